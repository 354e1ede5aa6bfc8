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
     "Lowest level to log: debug, info, warn or error.", 0, 0, audience::tools},

    {"listen", "Listeners", "HOST:PORT", &settings::listen,
     "Plain HTTP. May be repeated; port 0 picks a free port; none turns plain HTTP off."},
    {"listen-tls", "Listeners", "HOST:PORT", &settings::listen_tls,
     "HTTPS. May be repeated. Without --tls-cert, a self-signed certificate is created in the data directory."},
    {"tls-cert", "Listeners", "FILE", &settings::tls_cert,
     "Certificate chain in PEM format. SIGHUP reloads it."},
    {"tls-key", "Listeners", "FILE", &settings::tls_key,
     "Private key of --tls-cert, in PEM format."},
    {"allow-plain-http", "Listeners", "", &settings::allow_plain_http,
     "Allows --listen on addresses other than loopback, for use behind a TLS proxy."},
    {"metrics-listen", "Listeners", "HOST:PORT", &settings::metrics_listen,
     "Listener for /metrics, which the other listeners do not serve, and for /healthz and /readyz."},
    {"allowed-origin", "Listeners", "ORIGIN", &settings::allowed_origins,
     "Web origin whose pages may call the API and open a WebSocket. May be repeated; * allows any."},
    {"allowed-host", "Listeners", "HOST", &settings::allowed_hosts,
     "Host that is served besides loopback ones, without its port; loopback listeners serve no other. "
     "May be repeated; * allows any."},
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

    {"admin-token-file", "Access", "FILE", &settings::admin_token_file,
     "File that holds the admin token, at least 16 characters. RESTANTE_ADMIN_TOKEN may hold it instead.", 1},
    {"registration", "Access", "WHO", &settings::registration,
     "Who may register a workspace: open, admin, or auto, which is open only with --dev "
     "or while every listener is on loopback, and never to requests that a proxy has forwarded."},
    {"dev", "Access", "", &settings::dev,
     "For development: lets requests from loopback through without a token, unless a proxy has forwarded "
     "them or a page of another site has sent them."},

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
    {"activity-retention", "Retention", "DURATION", &settings::activity_retention,
     "How long activity rows are kept.", second, 36500 * day, audience::sweep},
    {"sweep-interval", "Retention", "DURATION", &settings::sweep_interval,
     "Time between two sweeps, which delete expired rows.", 100 * ms, 7 * day},

    {"max-file-bytes", "Limits", "BYTES", &settings::max_file_bytes,
     "Largest file; at most 26214400, the limit of the database.", 1, static_cast<std::int64_t>(largest_file)},
    {"max-request-bytes", "Limits", "BYTES", &settings::max_request_bytes,
     "Most file data in one request; at least --max-file-bytes.", 1, 4096 * MiB},
    {"max-files", "Limits", "N", &settings::max_files, "Most files in one request.", 1, 10'000},
    {"max-parts", "Limits", "N", &settings::max_parts,
     "Most parts in one form, files included.", 1, 100'000},
    {"body-memory", "Limits", "BYTES", &settings::body_memory,
     "Memory that clients can make the server hold: bodies, pages of the feed, downloads. Beyond it, files are "
     "spooled to disk and other requests get 503.",
     16 * MiB, TiB},
    {"spool-dir", "Limits", "DIR", &settings::spool_dir, "Directory for spooled files.", 1},
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
