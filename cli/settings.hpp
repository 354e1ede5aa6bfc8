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
};

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

    // database
    std::string database_url;  // empty: private PostgreSQL under data_dir
    std::string data_dir = "./restante-data";
    unsigned db_connections = 16;  // for the whole process, divided among the shards
    bool no_migrate = false;

    // access
    std::string admin_token_file;
    std::string admin_token;  // empty: no admin
    bool dev = false;
    registration_policy registration = registration_policy::automatic;

    // push
    std::vector<callback_net> push_allow;  // dev implies loopback
    std::string push_ca_file;              // roots besides the system's
    std::chrono::milliseconds push_timeout = std::chrono::minutes(20);

    // retention
    std::chrono::microseconds ack_retention = std::chrono::hours(1);
    std::chrono::microseconds sweep_interval = std::chrono::minutes(5);
    std::chrono::microseconds upload_ttl = std::chrono::hours(24);
    std::chrono::microseconds activity_retention = std::chrono::hours(24 * 90);

    // limits
    std::uint64_t body_memory = 128ull << 20;
    std::string spool_dir = "/var/tmp";
    std::uint64_t spool_limit = 8ull << 30;
    std::uint64_t max_file_bytes = largest_file;
    std::uint64_t max_request_bytes = 52'428'800;
    unsigned max_files = 64;
    unsigned max_parts = 80;
    std::chrono::milliseconds header_timeout = std::chrono::seconds(10);
    std::chrono::milliseconds idle_timeout = std::chrono::seconds(60);
    std::chrono::milliseconds handshake_timeout = std::chrono::seconds(10);
    std::chrono::milliseconds shutdown_grace = std::chrono::seconds(10);

    log_level level = log_level::info;
};

}  // namespace restante
