#include "core/log.hpp"

#include "core/clock.hpp"
#include "core/log_sink.hpp"
#include "core/utf8.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cmath>

namespace restante {

namespace {

constexpr std::size_t max_text = 256;

std::atomic<log_level> least_level{log_level::info};

constexpr std::string_view level_names[] = {"debug", "info", "warn", "error"};

void append_unicode_escape(std::string& out, unsigned code)
{
    constexpr char digits[] = "0123456789abcdef";
    out += "\\u00";
    out += digits[code >> 4 & 0x0F];
    out += digits[code & 0x0F];
}

// U+0080–U+009F control terminals just as the C0 characters and DEL do.
constexpr bool is_c1_control(std::string_view sequence)
{
    return sequence.size() == 2 && sequence[0] == '\xC2' && static_cast<unsigned char>(sequence[1]) < 0xA0;
}

void append_ascii(std::string& out, char c)
{
    if (c == '"' || c == '\\') {
        out += '\\';
        out += c;
    } else if (c == '\n') {
        out += "\\n";
    } else if (c < 0x20 || c == 0x7F) {
        append_unicode_escape(out, static_cast<unsigned char>(c));
    } else {
        out += c;
    }
}

constexpr bool needs_no_escape(char c)
{
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

void append_string(std::string& out, std::string_view text)
{
    text = utf8_prefix(text, max_text);
    out += '"';
    while (!text.empty()) {
        const auto plain = std::find_if_not(text.begin(), text.end(), needs_no_escape);
        out.append(text.begin(), plain);
        text.remove_prefix(static_cast<std::size_t>(plain - text.begin()));
        if (text.empty())
            break;
        const std::size_t n = utf8_length(text);
        const std::string_view sequence = text.substr(0, n);
        if (n == 0)
            out += "\\ufffd";
        else if (n == 1)
            append_ascii(out, text.front());
        else if (is_c1_control(sequence))
            append_unicode_escape(out, static_cast<unsigned char>(sequence[1]));
        else
            out += sequence;
        text.remove_prefix(n == 0 ? 1 : n);
    }
    out += '"';
}

template <class Number>
void append_number(std::string& out, Number value)
{
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    out.append(text, end);
}

void append_name(std::string& out, std::string_view name)
{
    out += ",\"";
    out += name;
    out += "\":";
}

// "pq/pool.cpp" out of the absolute path that the compiler was given.
std::string_view short_path(std::string_view path)
{
    const auto file = path.rfind('/');
    if (file == std::string_view::npos || file == 0)
        return path;
    const auto folder = path.rfind('/', file - 1);
    return folder == std::string_view::npos ? path : path.substr(folder + 1);
}

}  // namespace

void set_log_level(log_level least)
{
    least_level.store(least, std::memory_order_relaxed);
}

log_line::log_line(log_level level, std::string_view event)
{
    if (level < least_level.load(std::memory_order_relaxed))
        return;
    text_.reserve(512);
    text_ += "{\"ts\":\"";
    append_rfc3339(text_, std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()));
    text_ += "\",\"level\":\"";
    text_ += level_names[static_cast<std::size_t>(level)];
    text_ += "\",\"event\":\"";
    text_ += event;
    text_ += '"';
}

log_line::~log_line()
{
    if (text_.empty())
        return;
    const int saved = errno;  // the caller may still need it after logging
    text_ += "}\n";
    write_log_line(text_);
    errno = saved;
}

log_line& log_line::field(std::string_view name, std::string_view text)
{
    if (!text_.empty()) {
        append_name(text_, name);
        append_string(text_, text);
    }
    return *this;
}

log_line& log_line::field(std::string_view name, std::int64_t value)
{
    if (!text_.empty()) {
        append_name(text_, name);
        append_number(text_, value);
    }
    return *this;
}

log_line& log_line::field(std::string_view name, std::uint64_t value)
{
    if (!text_.empty()) {
        append_name(text_, name);
        append_number(text_, value);
    }
    return *this;
}

log_line& log_line::field(std::string_view name, double value)
{
    if (!text_.empty()) {
        append_name(text_, name);
        if (std::isfinite(value))
            append_number(text_, value);
        else
            text_ += "null";  // JSON cannot express infinity or NaN
    }
    return *this;
}

log_line& log_line::field(std::string_view name, bool value)
{
    if (!text_.empty()) {
        append_name(text_, name);
        text_ += value ? "true" : "false";
    }
    return *this;
}

log_line& log_line::field(std::string_view name, const uuid& id)
{
    if (!text_.empty()) {
        append_name(text_, name);
        text_ += '"';
        append_to(text_, id);
        text_ += '"';
    }
    return *this;
}

log_line& log_line::failure(const error_code& ec)
{
    if (text_.empty())
        return *this;
    field("error", ec.message());
    if (ec.has_location()) {
        const auto& place = ec.location();
        field("where", std::string(short_path(place.file_name())) + ':' + std::to_string(place.line()));
    }
    return *this;
}

}  // namespace restante
