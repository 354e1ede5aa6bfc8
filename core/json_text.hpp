#pragma once

#include "core/clock.hpp"
#include "core/ids.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace restante {

// Writes JSON directly into a string, for frequent responses that are too simple to need a DOM. None of these
// allocates beyond the growth of the string.

// A quoted string. The text is UTF-8 and is copied verbatim, except for quotes, backslashes and control
// characters.
void append_json(std::string& out, std::string_view utf8);
inline void append_json(std::string& out, const char* utf8)
{
    append_json(out, std::string_view(utf8));
}
inline void append_json(std::string& out, const std::string& utf8)
{
    append_json(out, std::string_view(utf8));
}

void append_json(std::string& out, std::int64_t number);
void append_json(std::string& out, const uuid& id);
void append_json(std::string& out, timestamp when);

template <class T>
void append_json(std::string& out, const std::optional<T>& value)
{
    if (value)
        append_json(out, *value);
    else
        out += "null";
}

// `name` is the text between the previous value and this one: comma, quotes, colon.
template <class T>
void append_member(std::string& out, std::string_view name, const T& value)
{
    out += name;
    append_json(out, value);
}

}  // namespace restante
