#include "client/terminal_text.hpp"

#include "core/utf8.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace restante::client {

namespace {

constexpr std::uint32_t invalid = 0xFFFF'FFFF;

struct character {
    std::uint32_t code = invalid;
    std::string_view bytes;  // at least one
};

// Takes the first character off a text that is not empty.
character take(std::string_view& text)
{
    const auto length = utf8_length(text);
    character out{.bytes = text.substr(0, std::max<std::size_t>(length, 1))};
    text.remove_prefix(out.bytes.size());
    if (length == 0)
        return out;
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(out.bytes[i]); };
    out.code = length == 1 ? byte(0) : byte(0) & (0xFFu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i)
        out.code = out.code << 6 | (byte(i) & 0x3Fu);
    return out;
}

struct range {
    std::uint32_t first;
    std::uint32_t last;
};

template <std::size_t N>
bool is_in(const range (&ranges)[N], std::uint32_t code)
{
    return std::any_of(std::begin(ranges), std::end(ranges),
                       [code](const range& each) { return code >= each.first && code <= each.last; });
}

// Controls (C0, DEL, C1), line and paragraph separators, and what embeds, overrides or isolates a direction.
constexpr range harmful[] = {{0x00, 0x1F},     {0x7F, 0x9F},     {0x2028, 0x2029}, {0x200E, 0x200F},
                             {0x202A, 0x202E}, {0x2066, 0x2069}, {0xFFF9, 0xFFFB}, {invalid, invalid}};

// Drawn onto the character before it.
constexpr range without_width[] = {{0x0300, 0x036F}, {0x1AB0, 0x1AFF}, {0x200B, 0x200D},
                                   {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}};

// Two columns each: what Unicode calls wide, in blocks. A few in them are narrow, which leaves a gap and not
// a line that wraps.
constexpr range wide[] = {{0x1100, 0x115F},   {0x231A, 0x231B},   {0x2614, 0x2615},   {0x2E80, 0x303E},
                          {0x3041, 0xA4CF},   {0xA960, 0xA97C},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
                          {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x16FE0, 0x1B2FF},
                          {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F64F}, {0x1F680, 0x1F6FF},
                          {0x1F7E0, 0x1F7EB}, {0x1F90C, 0x1FAFF}, {0x20000, 0x3FFFD}};

std::size_t columns_of(std::uint32_t code)
{
    if (is_in(without_width, code))
        return 0;
    return is_in(wide, code) ? 2 : 1;
}

}  // namespace

std::string printable(std::string_view text, std::size_t most)
{
    std::string out;
    while (!text.empty() && out.size() < most) {
        const auto next = take(text);
        if (next.code == '\t')
            out += ' ';
        else if (is_in(harmful, next.code))
            out += '?';
        else
            out += next.bytes;
    }
    return text.empty() ? out : out + "…";
}

std::string printable_lines(std::string_view text)
{
    std::string out;
    for (;;) {
        const auto line = text.substr(0, text.find('\n'));
        out += printable(line, SIZE_MAX);
        if (line.size() == text.size())
            return out;
        out += '\n';
        text.remove_prefix(line.size() + 1);
    }
}

std::size_t columns(std::string_view text)
{
    std::size_t count = 0;
    while (!text.empty())
        count += columns_of(take(text).code);
    return count;
}

std::string fitted(std::string_view text, std::size_t width)
{
    const bool whole = columns(text) <= width;
    std::string out;
    std::size_t used = 0;
    while (!text.empty()) {
        const auto next = take(text);
        const auto needed = columns_of(next.code);
        // One column is for the ellipsis.
        if (!whole && used + needed + 1 > width)
            break;
        out += next.bytes;
        used += needed;
    }
    if (!whole && used < width) {
        out += "…";
        ++used;
    }
    return out.append(width - used, ' ');
}

}  // namespace restante::client
