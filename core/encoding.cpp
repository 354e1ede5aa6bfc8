#include "core/encoding.hpp"

#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>

namespace restante {

namespace {

constexpr std::string_view standard_alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view url_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr std::array<std::int8_t, 256> url_values = [] {
    std::array<std::int8_t, 256> values{};
    values.fill(-1);
    for (std::size_t i = 0; i < url_alphabet.size(); ++i)
        values[static_cast<unsigned char>(url_alphabet[i])] = static_cast<std::int8_t>(i);
    return values;
}();

std::string encode(std::span<const unsigned char> bytes, std::string_view alphabet)
{
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    std::uint32_t bits = 0;
    int pending = 0;
    for (const auto byte : bytes) {
        bits = bits << 8 | byte;
        for (pending += 8; pending >= 6;) {
            pending -= 6;
            out += alphabet[bits >> pending & 0x3F];
        }
    }
    if (pending > 0)
        out += alphabet[bits << (6 - pending) & 0x3F];
    return out;
}

}  // namespace

std::string to_hex(std::span<const unsigned char> bytes)
{
    constexpr char digits[] = "0123456789abcdef";
    std::string out(bytes.size() * 2, '\0');
    auto* to = out.data();
    for (const auto byte : bytes) {
        *to++ = digits[byte >> 4];
        *to++ = digits[byte & 0x0F];
    }
    return out;
}

bool from_hex(std::string_view text, std::span<unsigned char> bytes)
{
    if (text.size() != 2 * bytes.size())
        return false;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const char* const digits = text.data() + 2 * i;
        const auto is_hex = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
        if (!is_hex(digits[0]) || !is_hex(digits[1]))
            return false;
        std::from_chars(digits, digits + 2, bytes[i], 16);
    }
    return true;
}

std::optional<std::string> from_hex(std::string_view text)
{
    std::string out(text.size() / 2, '\0');
    const std::span<unsigned char> bytes(reinterpret_cast<unsigned char*>(out.data()), out.size());
    return from_hex(text, bytes) ? std::optional(std::move(out)) : std::nullopt;
}

std::string to_base64(std::span<const unsigned char> bytes)
{
    auto out = encode(bytes, standard_alphabet);
    out.append((4 - out.size() % 4) % 4, '=');
    return out;
}

std::string to_base64url(std::span<const unsigned char> bytes)
{
    return encode(bytes, url_alphabet);
}

std::optional<std::string> from_base64url(std::string_view text)
{
    if (text.size() % 4 == 1)
        return std::nullopt;
    std::string out;
    out.reserve(text.size() / 4 * 3 + 2);
    std::uint32_t bits = 0;
    int pending = 0;
    for (const char c : text) {
        const auto value = url_values[static_cast<unsigned char>(c)];
        if (value < 0)
            return std::nullopt;
        bits = bits << 6 | static_cast<std::uint32_t>(value);
        pending += 6;
        if (pending >= 8) {
            pending -= 8;
            out += static_cast<char>(bits >> pending & 0xFF);
        }
    }
    if ((bits & ((1u << pending) - 1)) != 0)
        return std::nullopt;
    return out;
}

}  // namespace restante
