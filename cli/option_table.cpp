#include "cli/options.hpp"

namespace restante {

namespace {

constexpr std::int64_t MiB = 1 << 20;
constexpr std::int64_t TiB = 1ll << 40;
constexpr std::int64_t ms = 1'000;
constexpr std::int64_t second = 1'000 * ms;
constexpr std::int64_t minute = 60 * second;
constexpr std::int64_t hour = 60 * minute;
constexpr std::int64_t day = 24 * hour;

// clang-format off
constexpr option table[] = {
    {"config", "General", "FILE", &settings::config_file,
     "Reads settings from FILE, one per line as `key = value`. The key is the flag without its dashes; "
     "# starts a comment.",
     1, 0, audience::tools},
    {"log-level", "General", "LEVEL", &settings::level,
     "Lowest level to log: debug, info, warn or error.", 0, 0, audience::tools, true},

    {"listen", "Listeners", "HOST:PORT", &settings::listen,
     "Plain HTTP. May be repeated; port 0 picks a free port; none turns plain HTTP off."},
    {"listen-tls", "Listeners", "HOST:PORT", &settings::listen_tls,
     "HTTPS. May be repeated. Without --tls-cert, a self-signed certificate is created in the data directory."},
    {"tls-cert", "Listeners", "FILE", &settings::tls_cert,
     "Certificate chain in PEM format.", 0, 0, audience::serve, true},
    {"tls-key", "Listeners", "FILE", &settings::tls_key,
     "Private key of --tls-cert, in PEM format.", 0, 0, audience::serve, true},
    {"allow-plain-http", "Listeners", "", &settings::allow_plain_http,
     "Allows --listen on addresses other than loopback, for use behind a TLS proxy."},
    {"metrics-listen", "Listeners", "HOST:PORT", &settings::metrics_listen,
     "Listener for /metrics, which the other listeners do not serve, and for /healthz and /readyz."},
    {"allowed-origin", "Listeners", "ORIGIN", &settings::allowed_origins,
     "Web origin whose pages may call the API and open a WebSocket. May be repeated; * allows any.",
     0, 0, audience::serve, true},
    {"allowed-host", "Listeners", "HOST", &settings::allowed_hosts,
     "Host that is served besides loopback ones, without its port; loopback listeners serve no other. "
     "May be repeated; * allows any."},
    {"public-url", "Listeners", "URL", &settings::public_url,
     "Address at which clients reach this server, for the links that it makes. Without it, the Host of the "
     "request that asks for one.",
     0, 0, audience::tools},
    {"web", "Listeners", "WHAT", &settings::web,
     "Whether the page for senders, owners and operators is served: on, or off."},
    {"threads", "Listeners", "N", &settings::threads,
     "Number of threads that serve requests; 0 means one per core.", 0, 256},
    {"max-connections", "Listeners", "N", &settings::max_connections,
     "Most client connections open at the same time.", 1, 1'000'000},
    {"max-anonymous-connections", "Listeners", "N", &settings::max_anonymous_connections,
     "Most connections of one address (IPv6: one /64; not loopback) on which no request has been authorised, "
     "at most a quarter of --max-connections; 0 means no limit.",
     0, 1'000'000},

    {"database-url", "Database", "URL", &settings::database_url,
     "PostgreSQL to use, as a URL or key=value text. "
     "Without it, a private PostgreSQL is run in the data directory.",
     0, 0, audience::tools},
    {"data-dir", "Database", "DIR", &settings::data_dir,
     "Directory of the private PostgreSQL and the self-signed certificate.", 1, 0, audience::tools},
    {"db-connections", "Database", "N", &settings::db_connections,
     "Most database connections of the whole process.", 2, 1000},
    {"no-migrate", "Database", "", &settings::no_migrate,
     "Does not migrate the schema at startup; `restante migrate` does."},
    {"require-synchronous", "Database", "", &settings::require_synchronous,
     "Serves only a PostgreSQL whose commits wait for a standby (synchronous_standby_names is set)."},
    {"replica-url", "Database", "URL", &settings::replica_url,
     "Standby of the PostgreSQL of --database-url, as a URL or key=value text: polls and contents are read from it "
     "where it has come far enough."},

    {"content-store", "Content", "STORE", &settings::content_store,
     "Where the bytes of new files go: inline (their rows), directory, s3, or auto, which is directory beside the "
     "private PostgreSQL and inline otherwise. Old files are served from where they lie.",
     0, 0, audience::tools},
    {"content-dir", "Content", "DIR", &settings::content_dir,
     "Directory of the store `directory`; without it, `content` in the data directory.", 1, 0, audience::tools},
    {"content-inline-max", "Content", "BYTES", &settings::content_inline_max,
     "Files up to this size stay in their rows, whatever the store.", 0, static_cast<std::int64_t>(largest_file),
     audience::tools},

    {"s3-endpoint", "S3", "URL", &settings::s3_endpoint,
     "S3 API of the store `s3`, which addresses buckets in the path.", 1, 0, audience::tools},
    {"s3-bucket", "S3", "NAME", &settings::s3_bucket,
     "Bucket for files; it must exist.", 1, 0, audience::tools},
    {"s3-prefix", "S3", "TEXT", &settings::s3_prefix,
     "What the names of objects begin with; nothing else may write there.", 0, 0, audience::tools},
    {"s3-region", "S3", "NAME", &settings::s3_region,
     "Region that requests are signed for.", 1, 0, audience::tools},
    {"s3-credentials-file", "S3", "FILE", &settings::s3_credentials_file,
     "File with the lines `access_key = …` and `secret_key = …`. SIGHUP reads it again. RESTANTE_S3_ACCESS_KEY and "
     "RESTANTE_S3_SECRET_KEY may hold them instead.",
     1, 0, audience::tools},
    {"s3-ca-file", "S3", "FILE", &settings::s3_ca_file,
     "Certificates in PEM that vouch for the S3 endpoint, besides the system's.", 1, 0, audience::tools},

    {"admin-token-file", "Access", "FILE", &settings::admin_token_file,
     "File that holds the admin token, 16 to 512 characters. RESTANTE_ADMIN_TOKEN may hold it instead.",
     1, 0, audience::serve, true},
    {"registration", "Access", "WHO", &settings::registration,
     "Who may register a workspace: open, admin, or auto, which is open only with --dev "
     "or while every listener is on loopback, and never to requests that a proxy has forwarded.",
     0, 0, audience::serve, true},
    {"dev", "Access", "", &settings::dev,
     "For development: lets requests from loopback through without a token, unless a proxy has forwarded "
     "them or a page of another site has sent them."},

    {"peers", "Access", "WHO", &settings::peers,
     "Whether the workspaces of this server may see and address each other: closed, or open, for servers of "
     "one tenant."},
    {"presence-timeout", "Access", "DURATION", &settings::presence_timeout,
     "A workspace that has neither sent a heartbeat nor polled for this long is offline.", second, day},

    {"push-allow", "Push", "NET", &settings::push_allow,
     "Networks that callback URLs may point into besides the public internet: loopback (implied by --dev), "
     "private. May be repeated."},
    {"push-ca-file", "Push", "FILE", &settings::push_ca_file,
     "Certificates in PEM that vouch for workspaces, besides the system's.", 1},
    {"push-timeout", "Push", "DURATION", &settings::push_timeout,
     "For one forward to a workspace, from connecting to the last byte of the answer.", 100 * ms, day},

    {"upload-ttl", "Retention", "DURATION", &settings::upload_ttl,
     "How long a file waits for its workspace.", second, 3650 * day},
    {"ack-retention", "Retention", "DURATION", &settings::ack_retention,
     "How long an acked file is kept; 0 means the default.", 0, 3650 * day, audience::sweep},
    {"content-after-ack", "Retention", "WHAT", &settings::content_after_ack,
     "Whether an acked file can still be fetched: off, or until-sweep, which serves it until it is deleted."},
    {"activity-retention", "Retention", "DURATION", &settings::activity_retention,
     "How long activity rows are kept.", second, 36500 * day, audience::sweep},
    {"sweep-interval", "Retention", "DURATION", &settings::sweep_interval,
     "Time between two sweeps, which delete expired rows.", 100 * ms, 7 * day},

    {"max-file-bytes", "Limits", "BYTES", &settings::max_file_bytes,
     "Largest file; at most 26214400, the limit of a row, with --content-store inline.", 1,
     static_cast<std::int64_t>(largest_stored_file)},
    {"max-request-bytes", "Limits", "BYTES", &settings::max_request_bytes,
     "Most file data in one request; at least --max-file-bytes.", 1, 65536 * MiB},
    {"max-message-bytes", "Limits", "BYTES", &settings::max_message_bytes,
     "Largest message; while it is stored it takes up to four times its size of --body-memory.", 1024, 64 * MiB},
    {"max-files", "Limits", "N", &settings::max_files, "Most files in one request.", 1, 10'000},
    {"max-parts", "Limits", "N", &settings::max_parts,
     "Most parts in one form, files included.", 1, 100'000},
    {"workspace-max-bytes", "Limits", "BYTES", &settings::workspace_max_bytes,
     "Most bytes that may wait for one workspace, in files that are neither acked nor expired; 0 means no limit. "
     "`restante workspace quota` sets other limits for one workspace.",
     0, 1024 * TiB, audience::tools, true},
    {"workspace-max-files", "Limits", "N", &settings::workspace_max_files,
     "Most files that may wait for one workspace; 0 means no limit.", 0, 1'000'000'000,
     audience::tools, true},
    {"body-memory", "Limits", "BYTES", &settings::body_memory,
     "Memory that clients can make the server hold: bodies, pages of the feed, downloads. Beyond it, files are "
     "spooled to disk and other requests get 503.",
     16 * MiB, TiB},
    {"spool-dir", "Limits", "DIR", &settings::spool_dir, "Directory for spooled files.", 1, 0, audience::tools},
    {"spool-limit", "Limits", "BYTES", &settings::spool_limit,
     "Disk space for spooled files, at least twice the largest request. One workspace may use as much as stays "
     "free for the others; beyond it, uploads are refused.",
     0, 1024 * TiB},

    {"header-timeout", "Timeouts", "DURATION", &settings::header_timeout,
     "Time limit for receiving a complete request header.", 100 * ms, hour},
    {"idle-timeout", "Timeouts", "DURATION", &settings::idle_timeout,
     "How long an idle connection is kept open.", 100 * ms, day},
    {"handshake-timeout", "Timeouts", "DURATION", &settings::handshake_timeout,
     "Time limit for a TLS handshake.", 100 * ms, hour},
    {"shutdown-grace", "Timeouts", "DURATION", &settings::shutdown_grace,
     "Time that running requests get to finish after SIGTERM.", 0, hour},
};
// clang-format on

}  // namespace

std::span<const option> option_table()
{
    return table;
}

}  // namespace restante
