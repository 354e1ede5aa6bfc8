#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace restante {

// Walks over the text of JSON values, so that parts of them can be read, copied and stored exactly as they
// were written: a parsed tree loses how a number was spelled, and takes many times the memory of its text.
// Meant for text that parse_json(), check_json() or PostgreSQL has accepted; on other text a walk ends early.

struct json_member_text {
    std::string_view key;  // with its quotes and escapes
    std::string_view value;

    bool is(std::string_view name) const;
};

// The members of an object, in the order of the text; none when it is something else.
class json_members {
public:
    explicit json_members(std::string_view object);
    std::optional<json_member_text> next();

private:
    std::string_view text_;
    std::size_t at_;
};

// The elements of an array; none when it is something else.
class json_elements {
public:
    explicit json_elements(std::string_view array);
    std::optional<std::string_view> next();

private:
    std::string_view text_;
    std::size_t at_;
};

// The value of a member of an object exactly as it was written.
std::optional<std::string_view> json_member(std::string_view object, std::string_view name);

// By their first character.
bool is_json_object(std::string_view value);
bool is_json_array(std::string_view value);
bool is_json_string(std::string_view value);

// What the text of a string means, without its quotes and escapes; nothing when it is no string.
std::optional<std::string> json_string(std::string_view value);

}  // namespace restante
