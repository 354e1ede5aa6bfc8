#include "http/message/response_writer.hpp"

#include "core/fault_point.hpp"
#include "http/net/connection.hpp"

#include <array>
#include <charconv>
#include <ctime>

namespace restante {

namespace {

// Below this a copy is cheaper than a second buffer; above, the body is sent from where it is.
constexpr std::size_t small_body = 16 * 1024;

void append_number(std::string& out, std::uint64_t value)
{
    std::array<char, 20> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out.append(digits.data(), end);
}

void append_chunk_size(std::string& out, std::size_t size)
{
    std::array<char, 16> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), size, 16).ptr;
    out.append(digits.data(), end);
    out += "\r\n";
}

// "Date: Tue, 15 Nov 1994 08:12:31 GMT", formatted once a second.
std::string_view date_field()
{
    thread_local std::time_t made_at = 0;
    thread_local std::array<char, 64> text;
    thread_local std::size_t size = 0;
    const auto now = std::time(nullptr);
    if (now != made_at) {
        std::tm utc{};
        ::gmtime_r(&now, &utc);
        size = std::strftime(text.data(), text.size(), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &utc);
        made_at = now;
    }
    return {text.data(), size};
}

bool may_have_body(http::status status)
{
    return status != http::status::no_content && status != http::status::not_modified &&
           http::to_status_class(status) != http::status_class::informational;
}

enum class framing { length, chunks, end_of_connection };

std::string make_head(const response& answer, const answer_frame& frame, framing how, std::uint64_t length,
                      std::size_t room)
{
    std::string out;
    out.reserve(512 + room);
    out += "HTTP/1.1 ";
    append_number(out, answer.head.result_int());
    out += ' ';
    // A workspace may answer with a status that Beast has no name for.
    if (answer.head.result() != http::status::unknown)
        out += http::obsolete_reason(answer.head.result());
    out += "\r\n";
    out += date_field();
    for (const auto& field : answer.head) {
        // Beast accepts any value; a line break in one would start a field, or an answer, of an attacker's
        // choice.
        if (field.value().find_first_of("\r\n") != std::string_view::npos)
            continue;
        out += field.name_string();
        out += ": ";
        out += field.value();
        out += "\r\n";
    }
    out += "X-Request-Id: ";
    out += frame.request_id;
    out += "\r\nX-Content-Type-Options: nosniff\r\n";
    if (how == framing::length && may_have_body(answer.head.result())) {
        out += "Content-Length: ";
        append_number(out, length);
        out += "\r\n";
    }
    if (how == framing::chunks && may_have_body(answer.head.result()))
        out += "Transfer-Encoding: chunked\r\n";
    out += frame.keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
    return out;
}

awaitable<error_code> send_text(connection& conn, response& answer, const answer_frame& frame)
{
    const auto& body = std::get<std::string>(answer.body);
    const bool with_body = !frame.head_only && may_have_body(answer.head.result());
    const bool joined = with_body && body.size() <= small_body;
    auto head = make_head(answer, frame, framing::length, body.size(), joined ? body.size() : 0);
    if (joined)
        head += body;
    std::array<asio::const_buffer, 2> buffers{asio::buffer(head)};
    if (with_body && !joined)
        buffers[1] = asio::buffer(body);
    if (fault_is_due("mid_answer")) {
        std::array<asio::const_buffer, 1> half{asio::buffer(head, head.size() / 2)};
        if (const auto ec = co_await conn.write(half))
            co_return ec;
        fault_point("mid_answer");
        buffers[0] += head.size() / 2;
    }
    co_return co_await conn.write(buffers);
}

awaitable<error_code> send_pieces(connection& conn, body_source& source, std::string head, std::uint64_t left)
{
    for (;;) {
        std::array<asio::const_buffer, 2> buffers{asio::buffer(head)};
        if (left > 0) {
            const auto piece = co_await source.next();
            if (!piece)
                co_return piece.error();
            if (piece->empty() || piece->size() > left)
                co_return RESTANTE_ERROR(errc::io_error);
            buffers[1] = asio::buffer(piece->data(), piece->size());
            left -= piece->size();
        }
        const auto ec = co_await conn.write(buffers);
        if (ec || left == 0)
            co_return ec;
        head.clear();
    }
}

awaitable<error_code> send_file(connection& conn, file_part file, std::string head)
{
    co_return co_await conn.send_file(head, file);
}

// Pieces up to the first empty one. An error leaves out the last chunk, so that the client sees a cut.
awaitable<error_code> send_until_end(connection& conn, body_source& source, std::string head, framing how)
{
    for (;;) {
        const auto piece = co_await source.next();
        if (!piece)
            co_return piece.error();
        std::string_view after;
        if (how == framing::chunks) {
            append_chunk_size(head, piece->size());
            after = "\r\n";
        }
        std::array<asio::const_buffer, 3> buffers{
            asio::buffer(head), asio::buffer(piece->data(), piece->size()), asio::buffer(after)};
        const auto ec = co_await conn.write(buffers);
        if (ec || piece->empty())
            co_return ec;
        head.clear();
    }
}

framing framing_of(const body_source& source, const answer_frame& frame)
{
    if (source.length())
        return framing::length;
    return frame.chunks ? framing::chunks : framing::end_of_connection;
}

awaitable<error_code> send_source(connection& conn, response& answer, const answer_frame& frame)
{
    auto& source = *std::get<std::unique_ptr<body_source>>(answer.body);
    const auto length = source.length();
    const auto how = framing_of(source, frame);
    auto head = make_head(answer, frame, how, length.value_or(0), 0);
    if (frame.head_only || !may_have_body(answer.head.result())) {
        std::array<asio::const_buffer, 1> buffers{asio::buffer(head)};
        const auto ec = co_await conn.write(buffers);
        source.finished(false);
        co_return ec;
    }
    error_code ec;
    const auto file = source.file();
    if (file && !conn.stream.encrypted())
        ec = co_await send_file(conn, *file, std::move(head));
    else if (how == framing::length)
        ec = co_await send_pieces(conn, source, std::move(head), *length);
    else
        ec = co_await send_until_end(conn, source, std::move(head), how);
    source.finished(!ec);
    co_return ec;
}

}  // namespace

bool has_known_length(const response& answer)
{
    const auto* source = std::get_if<std::unique_ptr<body_source>>(&answer.body);
    return !source || (*source)->length().has_value();
}

awaitable<error_code> send_response(connection& conn, response& answer, const answer_frame& frame)
{
    if (std::holds_alternative<std::string>(answer.body))
        co_return co_await send_text(conn, answer, frame);
    co_return co_await send_source(conn, answer, frame);
}

awaitable<error_code> send_stream_head(connection& conn, const response& answer, std::string_view request_id)
{
    const answer_frame frame{.request_id = request_id};
    const auto head = make_head(answer, frame, framing::end_of_connection, 0, 0);
    std::array<asio::const_buffer, 1> buffers{asio::buffer(head)};
    co_return co_await conn.write(buffers);
}

}  // namespace restante
