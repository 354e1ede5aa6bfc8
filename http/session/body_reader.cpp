#include "http/session/body_reader.hpp"

#include "http/message/chunk_quirk.hpp"
#include "http/session/chunk_line.hpp"

#include <algorithm>
#include <array>

namespace restante {

namespace http = boost::beast::http;

namespace {

constexpr std::size_t max_extension_bytes = 16 * 1024;  // of all chunks together
constexpr std::string_view continue_line = "HTTP/1.1 100 Continue\r\n\r\n";

// The error that a handler gets when its connection fails.
error_code body_error(const error_code& ec)
{
    if (ec == errc::request_timeout || ec == errc::shutting_down || ec == errc::no_room ||
        ec == asio::error::operation_aborted)
        return ec;
    return errc::client_gone;
}

}  // namespace

void body_reader::chunk_inspector::operator()(std::uint64_t, std::string_view extensions, error_code& ec)
{
    after_chunk = true;
    extension_bytes += extensions.size();
    if (extension_bytes > max_extension_bytes || !is_acceptable_chunk_extension(extensions))
        ec = http::error::bad_chunk_extension;
}

body_reader::body_reader(connection& conn, request_parser& parser, const gate_verdict& verdict)
    : conn_(conn),
      parser_(parser),
      kind_(verdict.body),
      expects_continue_(verdict.expects_continue),
      at_end_(verdict.body == body_kind::none ||
              (verdict.body == body_kind::length && verdict.content_length == 0)),
      left_(verdict.content_length)
{
}

awaitable<result<std::span<const char>>> body_reader::read_some()
{
    if (at_end_) {
        drop_block();
        co_return std::span<const char>{};
    }
    if (announced_too_large())
        co_return RESTANTE_ERROR(errc::request_too_large);
    if (!begun_) {
        if (const auto ec = co_await begin(); ec)
            co_return body_error(ec);
    }
    progress_.resume();
    auto bytes = kind_ == body_kind::length ? read_length() : read_chunks();
    auto got = co_await std::move(bytes);
    if (got && ended_late()) {
        const auto confirmed = co_await confirm_();
        if (!confirmed)
            co_return confirmed.error();
    }
    co_return got;
}

awaitable<error_code> body_reader::begin()
{
    begun_ = true;
    if (kind_ == body_kind::chunked) {
        parser_.body_limit(cap_);
        parser_.eager(true);
        parser_.on_chunk_header(inspector_);
    }
    // A client that has already started sending does not wait for 100 Continue.
    if (!expects_continue_ || !conn_.input.empty())
        co_return error_code{};
    std::array<asio::const_buffer, 1> line{asio::buffer(continue_line)};
    co_return co_await conn_.write(line);
}

awaitable<result<std::span<const char>>> body_reader::read_length()
{
    // Bytes that came with the head are returned in place; nothing moves them before the next read.
    if (!conn_.input.empty()) {
        const auto ahead = conn_.input.view().substr(0, std::min<std::uint64_t>(left_, block_size_));
        conn_.input.consume(ahead.size());
        left_ -= ahead.size();
        co_return deliver(ahead);
    }
    conn_.limit().expires_at(progress_.limit(received_));
    const auto room = std::min<std::uint64_t>(left_, block_size_);
    if (!make_block(room))
        co_return RESTANTE_ERROR(errc::no_room);
    const auto into = asio::buffer(block_.get(), room);
    const auto got = co_await conn_.read(into);
    if (!got)
        co_return body_error(got.error());
    left_ -= *got;
    co_return deliver({block_.get(), *got});
}

awaitable<result<std::span<const char>>> body_reader::read_chunks()
{
    if (!make_block(block_size_))
        co_return RESTANTE_ERROR(errc::no_room);
    auto& body = parser_.get().body();
    body.data = block_.get();
    body.size = block_size_;
    body.more = true;
    for (;;) {
        error_code ec;
        if (!conn_.input.empty() && !is_last_chunk_too_short_for_beast(conn_.input.view())) {
            const auto used = parser_.put(conn_.input.data(), ec);
            conn_.input.consume(used);
        }
        const auto decoded = block_size_ - body.size;
        if (ec == http::error::body_limit)
            co_return RESTANTE_ERROR(errc::request_too_large);
        if (ec && ec != http::error::need_more && ec != http::error::need_buffer)
            co_return RESTANTE_ERROR(errc::bad_request);
        if (decoded > 0 || parser_.is_done())
            co_return deliver({block_.get(), decoded});
        // Whatever Beast leaves lying here is the beginning of a chunk's first line.
        if (!can_become_chunk_line(conn_.input.view(), inspector_.after_chunk))
            co_return RESTANTE_ERROR(errc::bad_request);
        // A chunk header or trailer that does not end within the whole buffer is nobody's honest intention.
        if (conn_.input.full())
            co_return RESTANTE_ERROR(errc::bad_request);
        conn_.limit().expires_at(progress_.limit(received_));
        const auto into = conn_.input.prepare();
        const auto got = co_await conn_.read(into);
        if (!got)
            co_return body_error(got.error());
        conn_.input.commit(*got);
    }
}

std::span<const char> body_reader::deliver(std::span<const char> bytes)
{
    received_ += bytes.size();
    progress_.pause();
    const bool complete = kind_ == body_kind::length ? left_ == 0 : parser_.is_done();
    if (complete) {
        at_end_ = true;
        conn_.limit().clear();
    }
    return bytes;
}

bool body_reader::make_block(std::uint64_t bytes)
{
    if (block_)
        return true;
    if (!block_charge_.grow_to(bytes))
        return false;
    block_ = std::make_unique_for_overwrite<char[]>(bytes);
    return true;
}

void body_reader::drop_block()
{
    block_.reset();
    block_charge_.release();
}

awaitable<result<void>> body_reader::discard()
{
    while (!at_end_) {
        const auto bytes = co_await read_some();
        if (!bytes)
            co_return bytes.error();
    }
    co_return result<void>();
}

bool body_reader::skip_if_received()
{
    if (at_end_)
        return true;
    if (kind_ != body_kind::length || left_ > conn_.input.size())
        return false;
    conn_.input.consume(left_);
    left_ = 0;
    at_end_ = true;
    return true;
}

}  // namespace restante
