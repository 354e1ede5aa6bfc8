#include "core/file_names.hpp"

#include "core/text.hpp"
#include "core/utf8.hpp"

#include <algorithm>

namespace restante {

namespace {

constexpr std::size_t max_filename = 100;
constexpr std::size_t max_extension = 16;  // including the dot
constexpr std::size_t max_original_name = 255;
constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

bool is_filename_char(char c)
{
    return is_ascii_alnum(c) || c == '.' || c == '_' || c == '-';
}

// C0, DEL and C1 (which UTF-8 writes as C2 80 … C2 9F).
bool is_control(std::string_view code_point)
{
    if (code_point.size() == 1)
        return is_ascii_control(code_point[0]);
    return code_point.size() == 2 && code_point[0] == '\xC2' &&
           static_cast<unsigned char>(code_point[1]) < 0xA0;
}

void shorten(std::string& name)
{
    if (name.size() <= max_filename)
        return;
    const auto dot = name.rfind('.');
    const bool keeps_extension = dot != std::string::npos && name.size() - dot <= max_extension;
    const auto extension = keeps_extension ? name.substr(dot) : std::string();
    name.resize(max_filename - extension.size());
    name += extension;
}

}  // namespace

std::string sanitize_filename(std::string_view raw)
{
    auto rest = raw.substr(raw.rfind('/') + 1);  // npos + 1 is 0: the whole text if there is no slash
    std::string name;
    name.reserve(rest.size());
    while (!rest.empty()) {
        name += is_filename_char(rest[0]) ? rest[0] : '_';
        rest.remove_prefix(std::max<std::size_t>(1, utf8_length(rest)));
    }
    shorten(name);
    if (name.empty() || name == "." || name == "..")
        return "file";
    return name;
}

std::string original_name(std::string_view raw)
{
    std::string name;
    name.reserve(std::min(raw.size(), max_original_name));
    while (!raw.empty()) {
        const auto length = utf8_length(raw);
        const auto text = length > 0 ? raw.substr(0, length) : replacement_character;
        raw.remove_prefix(std::max<std::size_t>(1, length));
        if (is_control(text))
            continue;
        if (name.size() + text.size() > max_original_name)
            break;
        name += text;
    }
    return name;
}

std::string normalize_mimetype(std::string_view raw)
{
    const auto type = trim_blanks(raw.substr(0, raw.find(';')));
    if (type.empty())
        return {};
    const bool visible = std::all_of(type.begin(), type.end(), [](char c) { return c >= 0x21 && c <= 0x7E; });
    const auto slash = type.find('/');
    const bool two_halves =
        slash != std::string_view::npos && slash == type.rfind('/') && slash > 0 && slash + 1 < type.size();
    return visible && two_halves ? std::string(type) : "application/octet-stream";
}

std::string percent_encode_rfc5987(std::string_view text)
{
    constexpr std::string_view plain = "!#$&+-.^_`|~";
    constexpr char digits[] = "0123456789ABCDEF";
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        if (is_ascii_alnum(c) || plain.find(c) != std::string_view::npos) {
            out += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            out += '%';
            out += digits[byte >> 4];
            out += digits[byte & 0x0F];
        }
    }
    return out;
}

}  // namespace restante
