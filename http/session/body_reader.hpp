#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"
#include "core/memory_budget.hpp"
#include "http/message/request_gate.hpp"
#include "http/net/connection.hpp"
#include "http/net/progress.hpp"

#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace restante {

using request_parser = boost::beast::http::request_parser<boost::beast::http::buffer_body>;

// The body of one request, in blocks, as the client sends it. Limits are on progress, not on total time: at
// least 1 KiB/s, measured over 10 s. The first read sends `100 Continue`, so a handler that refuses without
// reading never asks for the bytes.
//
// Errors: request_too_large (announced, or as soon as the cap is crossed), request_timeout, bad_request
// (broken chunks), client_gone (the body ended early or the connection broke), shutting_down, no_room (of
// memory, or the connection was closed in favour of another), and those of a confirmation.
class body_reader {
public:
    static constexpr std::size_t block_size = 64 * 1024;

    body_reader(connection& conn, request_parser& parser, const gate_verdict& verdict);
    body_reader(const body_reader&) = delete;
    body_reader& operator=(const body_reader&) = delete;

    void set_cap(std::uint64_t bytes) { cap_ = bytes; }
    // Before the first read: larger blocks for a body that is only passed on, which costs little but system
    // calls.
    void set_block_size(std::size_t bytes) { block_size_ = bytes; }
    // What the block that bytes are read into is charged to.
    void charge_to(memory_charge account) { block_charge_ = std::move(account); }
    std::uint64_t cap() const { return cap_; }

    // What the caller may do was decided before its body, which can take minutes. When the end comes later
    // than `after`, this is asked before the last bytes are given out, and its error is given instead of
    // them.
    using confirmation = std::function<awaitable<result<void>>()>;
    void confirm_end(std::chrono::steady_clock::time_point after, confirmation ask)
    {
        confirm_after_ = after;
        confirm_ = std::move(ask);
    }

    // From Content-Length alone, before anything is read; false while the length is unknown.
    bool announced_too_large() const { return kind_ == body_kind::length && received_ + left_ > cap_; }

    // Content-Length; 0 while the length is unknown.
    std::uint64_t announced() const { return kind_ == body_kind::length ? received_ + left_ : 0; }
    bool chunked() const { return kind_ == body_kind::chunked; }

    // The next bytes, at most a block; an empty span is the end. Valid until the next call.
    awaitable<result<std::span<const char>>> read_some();

    // A read that waits for the client comes back with operation_aborted, and may be tried again.
    void interrupt() { conn_.interrupt_reading(); }

    // Reads to the end and discards it.
    awaitable<result<void>> discard();

    bool at_end() const { return at_end_; }
    std::uint64_t received() const { return received_; }

    // Skips an unread body if all of it has arrived, so that the connection stays usable.
    bool skip_if_received();

private:
    // Beast passes each chunk's header to this before it accepts it.
    struct chunk_inspector {
        std::size_t extension_bytes = 0;
        bool after_chunk = false;
        void operator()(std::uint64_t size, std::string_view extensions, error_code& ec);
    };

    awaitable<error_code> begin();
    bool ended_late() const
    {
        return at_end_ && confirm_ && std::chrono::steady_clock::now() > confirm_after_;
    }
    awaitable<result<std::span<const char>>> read_length();
    awaitable<result<std::span<const char>>> read_chunks();
    std::span<const char> deliver(std::span<const char> bytes);
    bool make_block(std::uint64_t bytes);
    void drop_block();

    connection& conn_;
    request_parser& parser_;
    chunk_inspector inspector_;
    body_kind kind_;
    bool expects_continue_;
    bool begun_ = false;
    bool at_end_;
    std::uint64_t left_;  // with body_kind::length
    std::uint64_t received_ = 0;
    std::uint64_t cap_ = 0;
    std::size_t block_size_ = block_size;
    std::unique_ptr<char[]> block_;  // only while a body is being read
    memory_charge block_charge_;
    receive_progress progress_;
    std::chrono::steady_clock::time_point confirm_after_;
    confirmation confirm_;
};

}  // namespace restante
