#pragma once

#include "bench/answer_reader.hpp"
#include "bench/failure.hpp"
#include "core/asio.hpp"
#include "core/deadline.hpp"
#include "core/error.hpp"

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <memory>
#include <string>
#include <vector>

namespace restante::bench {

// Where the server is, and how long it may take for an answer.
struct target {
    tcp::endpoint endpoint;
    bool tls = false;
    std::chrono::seconds patience{30};

    std::string text() const;
};

// http://127.0.0.1:8080 or https://[::1]:8443, numbers only. Throws failure for anything else.
target parse_target(const std::string& url);

// One keep-alive connection. Every wait ends: what takes longer than the target's patience closes the
// connection and comes back as timed_out. Certificates are not looked at; the tool measures, it does not
// trust.
class client {
public:
    static constexpr std::size_t usual_buffer = 64 * 1024;

    // A body that does not fit into the buffer is read and forgotten.
    client(executor ex, const target& server, std::size_t buffer_bytes = usual_buffer);
    client(const client&) = delete;
    client& operator=(const client&) = delete;

    // From any address, or from this one. May be called again after a failure.
    awaitable<error_code> open(const asio::ip::address& from = {});

    // Asks and waits for the answer. The request's bytes must live until then.
    awaitable<result<answer>> exchange(std::string_view request);

    // The two halves of that, for whoever has something to do in between.
    awaitable<error_code> send(std::string_view request);
    awaitable<result<answer>> receive();

    void close();

private:
    awaitable<result<std::size_t>> read_some(std::size_t room_from);
    error_code outcome(error_code ec) const;

    const target& server_;
    tcp_socket socket_;
    std::unique_ptr<asio::ssl::stream<tcp_socket&>> tls_;
    std::vector<char> buffer_;
    deadline limit_;
};

}  // namespace restante::bench
