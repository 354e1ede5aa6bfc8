#include "storage/content/s3/xml.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

namespace restante::s3 {

namespace {

bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// The control characters that XML 1.0 has no place for; text and numeric entities follow the same rule.
bool is_forbidden(std::uint32_t code)
{
    return code < 0x20 && code != '\t' && code != '\n' && code != '\r';
}

bool is_name_char(char c)
{
    return is_ascii_alnum(c) || c == '_' || c == '-' || c == '.' || c == ':';
}

// A character of XML 1.0, as UTF-8.
bool append_character(std::string& out, std::uint32_t code)
{
    if (is_forbidden(code) || (code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF)
        return false;
    const auto tail = [&](unsigned shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xC0 | code >> 6);
        tail(0);
    } else if (code < 0x10000) {
        out += static_cast<char>(0xE0 | code >> 12);
        tail(6);
        tail(0);
    } else {
        out += static_cast<char>(0xF0 | code >> 18);
        tail(12);
        tail(6);
        tail(0);
    }
    return true;
}

// What stands between & and ;
bool append_entity(std::string& out, std::string_view name)
{
    struct entity {
        std::string_view name;
        char value;
    };
    constexpr std::array<entity, 5> known{
        {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}};
    for (const auto& each : known)
        if (each.name == name) {
            out += each.value;
            return true;
        }
    if (!name.starts_with('#'))
        return false;
    name.remove_prefix(1);
    const int base = name.starts_with('x') ? 16 : 10;
    if (base == 16)
        name.remove_prefix(1);
    std::uint32_t code = 0;
    const auto [end, ec] = std::from_chars(name.data(), name.data() + name.size(), code, base);
    return ec == std::errc() && end == name.data() + name.size() && append_character(out, code);
}

class reader {
public:
    reader(std::string_view document, const xml_visitor& visit) : rest_(document), visit_(visit) {}

    bool run()
    {
        skip_space();
        if (rest_.starts_with("<?xml") && !skip_past("?>"))
            return false;
        do {
            if (!read_markup())
                return false;
        } while (!open_.empty() || !seen_root_);
        while (!rest_.empty()) {
            skip_space();
            if (!rest_.empty() && !skip_comment())
                return false;
        }
        return true;
    }

private:
    struct element {
        std::size_t path;  // its length without this element
        std::string text;
        bool has_children = false;
    };

    // Text up to the next tag, then the tag.
    bool read_markup()
    {
        if (!read_text() || rest_.empty())
            return false;
        if (rest_.starts_with("<!--"))
            return skip_comment();
        return rest_.starts_with("</") ? read_end() : read_start();
    }

    bool read_text()
    {
        const auto end = rest_.find('<');
        if (end == std::string_view::npos)
            return false;
        auto text = rest_.substr(0, end);
        rest_.remove_prefix(end);
        if (open_.empty() || open_.back().has_children)
            return std::all_of(text.begin(), text.end(), is_space);
        return append_decoded(open_.back().text, text);
    }

    static bool append_decoded(std::string& out, std::string_view text)
    {
        while (!text.empty()) {
            const auto plain = text.substr(0, text.find('&'));
            if (std::any_of(plain.begin(), plain.end(),
                            [](char c) { return is_forbidden(static_cast<unsigned char>(c)); }))
                return false;
            out += plain;
            text.remove_prefix(plain.size());
            if (!text.empty()) {
                const auto end = text.substr(0, 12).find(';');
                if (end == std::string_view::npos || !append_entity(out, text.substr(1, end - 1)))
                    return false;
                text.remove_prefix(end + 1);
            }
            if (out.size() > longest_xml_text)
                return false;
        }
        return true;
    }

    bool read_start()
    {
        rest_.remove_prefix(1);
        const auto name = take_name();
        if (!name || open_.size() == deepest_xml || (open_.empty() && seen_root_))
            return false;
        if (!open_.empty()) {
            auto& parent = open_.back();
            if (!std::all_of(parent.text.begin(), parent.text.end(), is_space))
                return false;
            parent.text.clear();
            parent.has_children = true;
        }
        seen_root_ = true;
        open_.push_back({path_.size(), {}});
        if (!path_.empty())
            path_ += '/';
        path_ += *name;
        if (!skip_attributes())
            return false;
        if (rest_.starts_with("/>")) {
            rest_.remove_prefix(2);
            close();
            return true;
        }
        return take('>');
    }

    bool read_end()
    {
        rest_.remove_prefix(2);
        const auto name = take_name();
        if (!name || open_.empty())
            return false;
        const auto begin = open_.back().path;
        if (*name != std::string_view(path_).substr(begin == 0 ? 0 : begin + 1))
            return false;
        skip_space();
        if (!take('>'))
            return false;
        close();
        return true;
    }

    void close()
    {
        visit_(path_, open_.back().text);
        path_.resize(open_.back().path);
        open_.pop_back();
    }

    // Without its prefix.
    std::optional<std::string_view> take_name()
    {
        const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_name_char);
        auto name = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
        rest_.remove_prefix(name.size());
        if (name.empty() || name.size() > longest_xml_name)
            return std::nullopt;
        if (const auto colon = name.find(':'); colon != std::string_view::npos)
            name.remove_prefix(colon + 1);
        if (name.empty() || name.find(':') != std::string_view::npos)
            return std::nullopt;
        return name;
    }

    bool skip_attributes()
    {
        for (;;) {
            skip_space();
            if (rest_.starts_with('>') || rest_.starts_with("/>"))
                return true;
            if (!take_name())
                return false;
            skip_space();
            if (!take('='))
                return false;
            skip_space();
            if (rest_.empty() || (rest_[0] != '"' && rest_[0] != '\''))
                return false;
            const auto end = rest_.find(rest_[0], 1);
            if (end == std::string_view::npos || rest_.substr(0, end).find('<') != std::string_view::npos)
                return false;
            rest_.remove_prefix(end + 1);
        }
    }

    bool skip_comment() { return rest_.starts_with("<!--") && skip_past("-->"); }

    bool skip_past(std::string_view mark)
    {
        const auto at = rest_.find(mark);
        if (at == std::string_view::npos)
            return false;
        rest_.remove_prefix(at + mark.size());
        return true;
    }

    void skip_space()
    {
        while (!rest_.empty() && is_space(rest_.front()))
            rest_.remove_prefix(1);
    }

    bool take(char c)
    {
        if (!rest_.starts_with(c))
            return false;
        rest_.remove_prefix(1);
        return true;
    }

    std::string_view rest_;
    const xml_visitor& visit_;
    std::vector<element> open_;
    std::string path_;
    bool seen_root_ = false;
};

}  // namespace

bool read_xml(std::string_view document, const xml_visitor& visit)
{
    return reader(document, visit).run();
}

}  // namespace restante::s3
