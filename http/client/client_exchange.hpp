#pragma once

#include "core/asio.hpp"
#include "core/deadline.hpp"
#include "core/error.hpp"
#include "http/client/client_request.hpp"
#include "http/client/dialer.hpp"
#include "http/client/idle_connections.hpp"
#include "http/net/connection.hpp"
#include "http/net/progress.hpp"

#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>

#include <memory>
#include <optional>
#include <span>
#include <stop_token>

namespace restante {

struct client_limits {
    std::chrono::milliseconds whole = std::chrono::minutes(20);  // from connecting to the answer's last byte
    // For the answer to begin, once the request is sent; none: as long as the whole may take.
    std::optional<std::chrono::milliseconds> head = {};
    // Whether the body of the answer must keep coming: 1 KiB/s, seen over 10 s.
    bool answer_progress = true;
};

// One request and its answer. Bodies pass through buffers of fixed size, so each side is read only as fast as
// the other one takes it. An answer that comes while the request is still being sent ends the sending.
//
// Errors: those of dial(), and broken, late, cancelled; and what the source of the request's body returned.
class client_exchange {
public:
    using answer_head = boost::beast::http::response_header<>;

    client_exchange(executor ex, const dial_options& options, idle_connections& idle,
                    const client_limits& limits);
    // A connection that can be used again is kept; any other one is cut.
    ~client_exchange();
    client_exchange(const client_exchange&) = delete;
    client_exchange& operator=(const client_exchange&) = delete;

    // Connects, sends the request with its body and waits for the head of the answer. `body` may be null, and
    // is not used after this.
    awaitable<error_code> send(client_request what, request_source* body);

    const answer_head& head() const { return parser_->get().base(); }
    unsigned status() const { return head().result_int(); }
    // Of the answer's head; empty when it is not there.
    std::string_view field(std::string_view name) const;
    // Of the answer's body; absent when only its end will tell.
    std::optional<std::uint64_t> length() const;

    // The next bytes of the answer, valid until the next call; an empty span is the end.
    awaitable<result<std::span<const char>>> read_some();
    bool at_end() const { return parser_ && parser_->is_done(); }

    // From now on the answer may take as long as its reader does; it must still keep coming.
    void lift_limit() { whole_.clear(); }

    // Bytes of the bodies, out and in.
    std::uint64_t sent() const { return sent_; }
    std::uint64_t received() const { return received_; }

    // Makes whatever waits return `cancelled`; the connection is cut.
    void cancel();

private:
    using answer_parser = boost::beast::http::response_parser<boost::beast::http::buffer_body>;
    static constexpr std::size_t block_size = 32 * 1024;

    awaitable<error_code> connect(const http_origin& to);
    awaitable<error_code> send_request(const client_request& what, request_source* body);
    awaitable<error_code> send_body(std::string head, request_source& body, request_framing how);
    awaitable<error_code> receive_head(boost::beast::http::verb method);
    awaitable<error_code> receive_more();
    error_code parse_input();
    error_code stopped_by() const;
    bool is_reusable();
    void interrupt();

    const dial_options& options_;
    idle_connections& idle_;
    client_limits limits_;
    std::chrono::steady_clock::time_point end_;
    deadline whole_;
    http_origin to_;
    std::stop_source dialling_;
    std::unique_ptr<connection> conn_;
    request_source* source_ = nullptr;  // while it is being sent
    std::optional<answer_parser> parser_;
    std::unique_ptr<char[]> block_;
    receive_progress progress_;
    std::uint64_t sent_ = 0;
    std::uint64_t received_ = 0;
    bool kept_connection_ = false;  // it has carried a request before
    bool sent_all_ = false;
    bool head_only_ = false;
    bool answer_began_ = false;
    bool late_ = false;
    bool cancelled_ = false;
};

}  // namespace restante
