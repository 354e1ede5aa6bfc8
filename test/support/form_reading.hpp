#pragma once

#include "http/multipart/parser.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace restante::multipart {

struct read_part {
    part_head head;
    std::string content;
    bool ended = false;

    bool operator==(const read_part&) const = default;
};

// All events of a parsed body, with adjacent pieces of data joined: this must not depend on how the body was
// split.
struct form_reading {
    std::vector<read_part> parts;
    bool accepted = false;

    bool operator==(const form_reading&) const = default;
};

inline boundary make_boundary(std::string_view text)
{
    return boundary::from_content_type("multipart/form-data; boundary=\"" + std::string(text) + "\"").value();
}

// Feeds one block and records its events; false once the parser has failed.
inline bool read_block(parser& from, std::string_view block, form_reading& into)
{
    from.feed(block);
    for (;;) {
        const auto next = from.next();
        if (!next)
            return false;
        switch (next->kind) {
            case event::type::need_more: return true;
            case event::type::part_begin: into.parts.push_back({from.head(), {}, false}); break;
            case event::type::data: into.parts.back().content += next->bytes; break;
            case event::type::part_end: into.parts.back().ended = true; break;
        }
    }
}

// Feeds the body in blocks of the given lengths, and the rest as one more.
inline form_reading read_form(std::string_view body, const boundary& separator,
                              const std::vector<std::size_t>& lengths = {}, const parser_limits& limits = {})
{
    form_reading reading;
    parser from(separator, limits);
    bool going = true;
    for (const auto length : lengths) {
        const auto block = body.substr(0, length);
        going = going && read_block(from, block, reading);
        body.remove_prefix(block.size());
    }
    going = going && read_block(from, body, reading);
    reading.accepted = going && from.finish();
    return reading;
}

}  // namespace restante::multipart
