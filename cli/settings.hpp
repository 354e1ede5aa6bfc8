#pragma once

#include "core/host_port.hpp"
#include "core/limits.hpp"
#include "core/log.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace restante {

// automatic: open while every listener is on loopback or dev is set, else admin.
enum class registration_policy { automatic, open, admin };

// The name or address of a server as clients give it in Host, without a port.
struct host_name {
    std::string text;
    bool operator==(const host_name&) const = default;
};

// Whether the workspaces of this server may see and address each other: one tenant, or strangers.
enum class peer_policy { closed, open };

// Where clients reach a server: http or https, a host, maybe a path; no slash at the end.
struct base_url {
    std::string text;
    bool operator==(const base_url&) const = default;
};

// Whether an acked file can still be fetched.
enum class acked_content { off, until_sweep };

// Whether the page for people is served.
enum class web_page { off, on };

// Where the bytes of files lie. automatic: in a directory beside the private PostgreSQL, else in their rows.
enum class content_home { automatic, inline_, directory, s3 };

// Networks that callback URLs may point into only when the operator says so.
enum class callback_net { loopback, private_ };

// Every setting, validated: cli/config creates this, and nothing else reads flags or the environment.
struct settings {
    std::string config_file;  // the file with the other settings, if any

    // listeners
    std::vector<host_port> listen{{"127.0.0.1", 8080}};
    std::vector<host_port> listen_tls;
    host_port metrics_listen{"127.0.0.1", 9464};
    std::string tls_cert;
    std::string tls_key;
    bool allow_plain_http = false;
    unsigned threads = 0;  // 0: one per core
    unsigned max_connections = 20'000;
    unsigned max_anonymous_connections = 256;  // of one address
    std::vector<std::string> allowed_origins;  // CORS and WebSocket
    std::vector<host_name> allowed_hosts;
    base_url public_url;  // empty: as the request says
    web_page web = web_page::on;

    // database
    std::string database_url;  // empty: private PostgreSQL under data_dir
    std::string data_dir = "./restante-data";
    unsigned db_connections = 16;  // for the whole process, divided among the shards
    bool no_migrate = false;
    bool require_synchronous = false;
    std::string replica_url;  // empty: everything is read from the primary

    // content
    content_home content_store = content_home::automatic;
    std::string content_dir;  // empty: content in the data directory
    std::uint64_t content_inline_max = 256 * 1024;

    // S3
    std::string s3_endpoint;
    std::string s3_bucket;
    std::string s3_prefix;
    std::string s3_region = "us-east-1";
    std::string s3_credentials_file;  // empty: the environment
    std::string s3_ca_file;           // roots besides the system's

    // access
    std::string admin_token_file;
    std::string admin_token;  // empty: no admin
    bool dev = false;
    registration_policy registration = registration_policy::automatic;
    peer_policy peers = peer_policy::closed;
    std::chrono::milliseconds presence_timeout = std::chrono::seconds(180);

    // push
    std::vector<callback_net> push_allow;  // dev implies loopback
    std::string push_ca_file;              // roots besides the system's
    std::chrono::milliseconds push_timeout = std::chrono::minutes(20);

    // retention
    std::chrono::microseconds ack_retention = std::chrono::hours(1);
    acked_content content_after_ack = acked_content::off;
    std::chrono::microseconds sweep_interval = std::chrono::minutes(5);
    std::chrono::microseconds upload_ttl = std::chrono::hours(24);
    std::chrono::microseconds activity_retention = std::chrono::hours(24 * 90);

    // limits
    std::uint64_t workspace_max_bytes = 2ull << 30;  // 0: no limit
    unsigned workspace_max_files = 10'000;
    std::uint64_t body_memory = 128ull << 20;
    std::string spool_dir = "/var/tmp";
    std::uint64_t spool_limit = 8ull << 30;
    std::uint64_t max_file_bytes = largest_file;
    std::uint64_t max_request_bytes = 52'428'800;
    std::uint64_t max_message_bytes = 16ull << 20;
    unsigned max_files = 64;
    unsigned max_parts = 80;
    std::chrono::milliseconds header_timeout = std::chrono::seconds(10);
    std::chrono::milliseconds idle_timeout = std::chrono::seconds(60);
    std::chrono::milliseconds handshake_timeout = std::chrono::seconds(10);
    std::chrono::milliseconds shutdown_grace = std::chrono::seconds(10);

    log_level level = log_level::info;
};

}  // namespace restante
