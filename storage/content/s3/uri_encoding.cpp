#include "storage/content/s3/uri_encoding.hpp"

#include "core/text.hpp"

#include <algorithm>

namespace restante::s3 {

namespace {

std::string encode(std::string_view text, std::string_view kept)
{
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        if (is_ascii_alnum(c) || kept.find(c) != std::string_view::npos) {
            out += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        out += '%';
        out += digits[byte >> 4];
        out += digits[byte & 15];
    }
    return out;
}

}  // namespace

std::string encode_path(std::string_view text)
{
    return encode(text, "-._~/");
}

std::string encode_value(std::string_view text)
{
    return encode(text, "-._~");
}

std::string encode_query(const query_parameters& parameters)
{
    query_parameters encoded;
    for (const auto& [name, value] : parameters)
        encoded.emplace_back(encode_value(name), encode_value(value));
    std::sort(encoded.begin(), encoded.end());
    std::string out;
    for (const auto& [name, value] : encoded) {
        if (!out.empty())
            out += '&';
        out += name + '=' + value;
    }
    return out;
}

}  // namespace restante::s3
