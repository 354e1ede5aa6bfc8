#include "http/client/client_exchange.hpp"

#include "http/client/client_error.hpp"
#include "http/client/early_answer.hpp"
#include "http/message/chunk_quirk.hpp"

#include <array>
#include <charconv>

namespace restante {

namespace http = boost::beast::http;

namespace {

using clock = std::chrono::steady_clock;

// What our own side of a connection reports, as a caller of the client sees it.
error_code client_error_of(const error_code& ec)
{
    return ec == errc::request_timeout ? client_errc::late : client_errc::broken;
}

request_framing framing_of(const request_source* body)
{
    if (!body)
        return request_framing::no_body;
    return body->length() ? request_framing::length : request_framing::chunks;
}

// A final answer in one framing. 101 would hand the connection over, which nobody has asked for.
bool is_acceptable(const http::response_header<>& head)
{
    if (head.result_int() < 200 || head.result_int() > 599)
        return false;
    const auto coding = head.find(http::field::transfer_encoding);
    return coding == head.end() || boost::beast::iequals(coding->value(), "chunked");
}

}  // namespace

client_exchange::client_exchange(executor ex, const dial_options& options, idle_connections& idle,
                                 const client_limits& limits)
    : options_(options), idle_(idle), limits_(limits), end_(clock::now() + limits.whole), whole_(ex, [this] {
          late_ = true;
          interrupt();
      })
{
    whole_.expires_at(end_);
}

client_exchange::~client_exchange()
{
    if (conn_ && is_reusable())
        idle_.put(to_, std::move(conn_));
}

bool client_exchange::is_reusable()
{
    return sent_all_ && at_end() && !stopped_by() && parser_->keep_alive() && conn_->input.empty();
}

void client_exchange::cancel()
{
    cancelled_ = true;
    dialling_.request_stop();
    interrupt();
}

void client_exchange::interrupt()
{
    if (source_)
        source_->interrupt();
    if (conn_)
        conn_->stream.cancel();
}

error_code client_exchange::stopped_by() const
{
    if (cancelled_)
        return client_errc::cancelled;
    if (late_)
        return client_errc::late;
    return {};
}

awaitable<error_code> client_exchange::connect(const http_origin& to)
{
    auto dialled = co_await dial(options_, to, end_, dialling_.get_token());
    if (!dialled)
        co_return dialled.error();
    conn_ = std::move(*dialled);
    kept_connection_ = false;
    co_return stopped_by();
}

awaitable<error_code> client_exchange::send(client_request what, request_source* body)
{
    to_ = what.to;
    conn_ = idle_.take(to_);
    kept_connection_ = conn_ != nullptr;
    if (!conn_) {
        if (const auto ec = co_await connect(to_))
            co_return ec;
    }
    auto ec = co_await send_request(what, body);
    // The server may have closed a kept connection in the very moment. Without a body the request can be
    // repeated; one with a body may have been carried out, and its bytes are gone.
    if (ec == client_errc::broken && kept_connection_ && !body && conn_->input.empty()) {
        if (const auto failed = co_await connect(to_))
            co_return failed;
        ec = co_await send_request(what, body);
    }
    co_return ec;
}

awaitable<error_code> client_exchange::send_request(const client_request& what, request_source* body)
{
    const auto how = framing_of(body);
    auto head = make_request_head(what, how, body ? body->length().value_or(0) : 0);
    if (body) {
        if (const auto ec = co_await send_body(std::move(head), *body, how))
            co_return ec;
    } else {
        std::array<asio::const_buffer, 1> buffers{asio::buffer(head)};
        if (const auto ec = co_await conn_->write(buffers))
            co_return stopped_by() ? stopped_by() : client_error_of(ec);
        sent_all_ = true;
    }
    co_return co_await receive_head(what.method);
}

awaitable<error_code> client_exchange::send_body(std::string head, request_source& body, request_framing how)
{
    const early_answer watch(*conn_, [this] {
        answer_began_ = true;
        interrupt();
    });
    source_ = &body;
    std::array<char, 20> size_line;
    for (;;) {
        const auto piece = co_await body.next();
        if (stopped_by() || answer_began_ || !piece) {
            source_ = nullptr;
            if (stopped_by() || answer_began_)
                co_return stopped_by();
            co_return piece.error();
        }
        if (how == request_framing::chunks) {
            const auto end = std::to_chars(size_line.data(), size_line.data() + 16, piece->size(), 16).ptr;
            head.append(size_line.data(), end);
            head += "\r\n";
        }
        std::array<asio::const_buffer, 3> buffers{
            asio::buffer(head), asio::buffer(piece->data(), piece->size()),
            asio::buffer("\r\n", how == request_framing::chunks ? 2 : 0)};
        const auto ec = co_await conn_->write(buffers);
        sent_ += piece->size();
        const bool last = piece->empty();
        if (ec || last || stopped_by() || answer_began_)
            source_ = nullptr;
        if (stopped_by())
            co_return stopped_by();
        if (answer_began_)
            co_return error_code{};
        if (ec == errc::request_timeout)
            co_return client_errc::late;
        // A server that stops reading may have answered before; receive_head() finds out.
        if (ec)
            co_return error_code{};
        if (last) {
            sent_all_ = true;
            co_return error_code{};
        }
        head.clear();
    }
}

awaitable<error_code> client_exchange::receive_more()
{
    const auto ec = co_await conn_->fill();
    if (const auto stopped = stopped_by())
        co_return stopped;
    if (!ec)
        co_return ec;
    if (ec == asio::error::eof && parser_->is_header_done() && parser_->need_eof()) {
        error_code ended;
        parser_->put_eof(ended);
        if (!ended)
            co_return ended;
    }
    co_return client_error_of(ec);
}

error_code client_exchange::parse_input()
{
    auto& input = conn_->input;
    if (input.empty() || is_last_chunk_too_short_for_beast(input.view()))
        return {};
    error_code ec;
    const auto used = parser_->put(input.data(), ec);
    input.consume(used);
    if (ec && ec != http::error::need_more && ec != http::error::need_buffer)
        return client_errc::broken;
    return {};
}

awaitable<error_code> client_exchange::receive_head(http::verb method)
{
    if (limits_.head)
        conn_->limit().expires_after(*limits_.head);
    for (int interims = 0; interims <= most_interims; ++interims) {
        parser_.emplace();
        parser_->header_limit(longest_answer_head);
        parser_->body_limit(boost::none);
        head_only_ = method == http::verb::head;
        parser_->skip(head_only_);
        for (;;) {
            if (const auto ec = parse_input())
                co_return ec;
            if (parser_->is_header_done())
                break;
            if (const auto ec = co_await receive_more())
                co_return ec;
        }
        if (is_interim_status(parser_->get().result_int()))
            continue;
        parser_->eager(true);
        conn_->limit().clear();
        co_return is_acceptable(head()) ? error_code{} : client_errc::broken;
    }
    co_return client_errc::broken;
}

std::string_view client_exchange::field(std::string_view name) const
{
    const auto at = head().find({name.data(), name.size()});
    if (at == head().end())
        return {};
    return {at->value().data(), at->value().size()};
}

std::optional<std::uint64_t> client_exchange::length() const
{
    const auto known = parser_->content_length();
    if ((parser_->chunked() || !known) && head_only_)
        return std::nullopt;  // HEAD: that there is no body says nothing about its length
    if (parser_->chunked() || !known)
        return at_end() && !parser_->need_eof() ? std::optional<std::uint64_t>(0) : std::nullopt;
    return *known;
}

awaitable<result<std::span<const char>>> client_exchange::read_some()
{
    if (at_end())
        co_return std::span<const char>{};
    if (!block_)
        block_ = std::make_unique_for_overwrite<char[]>(block_size);
    auto& body = parser_->get().body();
    body.data = block_.get();
    body.size = block_size;
    body.more = true;
    progress_.resume();
    for (;;) {
        if (const auto ec = parse_input())
            co_return ec;
        const auto decoded = block_size - body.size;
        if (decoded > 0 || at_end()) {
            received_ += decoded;
            progress_.pause();
            co_return std::span<const char>(block_.get(), decoded);
        }
        if (conn_->input.full())
            co_return client_errc::broken;
        if (limits_.answer_progress)
            conn_->limit().expires_at(progress_.limit(received_));
        const auto ec = co_await receive_more();
        conn_->limit().clear();
        if (ec)
            co_return ec;
    }
}

}  // namespace restante
