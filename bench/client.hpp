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

// The address of the server, and how long an operation may take.
struct target {
    tcp::endpoint endpoint;
    bool tls = false;
    std::chrono::seconds timeout{30};

    std::string text() const;
};

// http://127.0.0.1:8080 or https://[::1]:8443, numeric only. Throws failure for anything else.
target parse_target(const std::string& url);

// One keep-alive connection. An operation that takes longer than the target's timeout closes the connection
// and returns timed_out. Certificates are not verified, because the tool only measures.
class client {
public:
    static constexpr std::size_t usual_buffer = 64 * 1024;

    // A body that does not fit into the buffer is read and discarded.
    client(executor ex, const target& server, std::size_t buffer_bytes = usual_buffer);
    client(const client&) = delete;
    client& operator=(const client&) = delete;

    // Connects, from this local address if one is given. May be called again after a failure.
    awaitable<error_code> open(const asio::ip::address& from = {});

    // Sends the request and waits for the answer. The request's bytes must live until then.
    awaitable<result<answer>> exchange(std::string_view request);

    // The two halves of exchange(), for callers that do something in between.
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
