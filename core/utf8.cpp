#include "core/utf8.hpp"

#include <algorithm>

namespace restante {

namespace {

constexpr unsigned char byte_at(std::string_view text, std::size_t i)
{
    return static_cast<unsigned char>(text[i]);
}

constexpr bool is_continuation(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

// What a lead byte requires: the sequence length, and the range of the second byte that excludes overlong
// forms and surrogates.
struct promise {
    std::size_t length;
    unsigned char second_least;
    unsigned char second_most;
};

constexpr promise promise_of(unsigned char lead)
{
    if (lead < 0x80)
        return {1, 0, 0};
    if (lead < 0xC2)
        return {0, 0, 0};
    if (lead < 0xE0)
        return {2, 0x80, 0xBF};
    if (lead < 0xF0)
        return {3, static_cast<unsigned char>(lead == 0xE0 ? 0xA0 : 0x80),
                static_cast<unsigned char>(lead == 0xED ? 0x9F : 0xBF)};
    if (lead < 0xF5)
        return {4, static_cast<unsigned char>(lead == 0xF0 ? 0x90 : 0x80),
                static_cast<unsigned char>(lead == 0xF4 ? 0x8F : 0xBF)};
    return {0, 0, 0};
}

}  // namespace

std::size_t utf8_length(std::string_view text) noexcept
{
    if (text.empty())
        return 0;
    const promise p = promise_of(byte_at(text, 0));
    if (p.length < 2)
        return p.length;
    if (text.size() < p.length || byte_at(text, 1) < p.second_least || byte_at(text, 1) > p.second_most)
        return 0;
    for (std::size_t i = 2; i < p.length; ++i)
        if (!is_continuation(byte_at(text, i)))
            return 0;
    return p.length;
}

std::string_view utf8_prefix(std::string_view text, std::size_t limit) noexcept
{
    if (text.size() <= limit)
        return text;
    // A code point that crosses the limit began at most three bytes before it.
    for (std::size_t back = 1; back <= 3 && back <= limit; ++back)
        if (const std::size_t start = limit - back; utf8_length(text.substr(start)) > back)
            return text.substr(0, start);
    return text.substr(0, limit);
}

bool is_utf8(std::string_view text) noexcept
{
    while (!text.empty()) {
        const std::size_t n = utf8_length(text);
        if (n == 0)
            return false;
        text.remove_prefix(n);
    }
    return true;
}

std::string as_utf8(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const auto length = utf8_length(text);
        out += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out;
}

}  // namespace restante
