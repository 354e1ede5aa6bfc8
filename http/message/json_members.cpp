#include "http/message/json_members.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <array>

namespace restante {

namespace {

constexpr std::string_view blanks = " \t\r\n";

// The characters at which the nesting may change.
constexpr auto structural = [] {
    std::array<bool, 256> table{};
    for (const char c : std::string_view("\"{}[]"))
        table[static_cast<unsigned char>(c)] = true;
    return table;
}();

std::size_t skip_blanks(std::string_view text, std::size_t at)
{
    return std::min(text.find_first_not_of(blanks, at), text.size());
}

char first_of(std::string_view value)
{
    const auto at = skip_blanks(value, 0);
    return at < value.size() ? value[at] : '\0';
}

// A quote ends the string unless an odd number of backslashes stands before it. Searching for the quote alone
// is many times as fast as looking at each character, which is felt with megabytes of base64.
std::size_t end_of_string(std::string_view text, std::size_t at)
{
    for (auto quote = text.find('"', at + 1); quote != std::string_view::npos;
         quote = text.find('"', quote + 1)) {
        const auto before = text.find_last_not_of('\\', quote - 1);
        if ((quote - before) % 2 == 1)
            return quote + 1;
    }
    return text.size();
}

std::size_t end_of_nested(std::string_view text, std::size_t at)
{
    for (int depth = 0; at < text.size();) {
        const auto c = static_cast<unsigned char>(text[at]);
        if (!structural[c]) {
            ++at;
        } else if (c == '"') {
            at = end_of_string(text, at);
        } else {
            depth += c == '{' || c == '[' ? 1 : -1;
            ++at;
            if (depth == 0)
                return at;
        }
    }
    return text.size();
}

// The value that begins at or after `at`, which moves behind it. Empty at the end.
std::string_view take_value(std::string_view text, std::size_t& at)
{
    const auto begin = skip_blanks(text, at);
    if (begin == text.size())
        return {};
    if (text[begin] == '"')
        at = end_of_string(text, begin);
    else if (text[begin] == '{' || text[begin] == '[')
        at = end_of_nested(text, begin);
    else
        at = std::min(text.find_first_of(" \t\r\n,:]}", begin), text.size());
    return text.substr(begin, at - begin);
}

// Moves behind this character if it comes next.
bool pass(std::string_view text, std::size_t& at, char wanted)
{
    const auto next = skip_blanks(text, at);
    if (next == text.size() || text[next] != wanted)
        return false;
    at = next + 1;
    return true;
}

}  // namespace

bool json_member_text::is(std::string_view name) const
{
    if (key.size() < 2)
        return false;
    if (key.find('\\') == std::string_view::npos)
        return key.substr(1, key.size() - 2) == name;
    return json_string(key) == name;
}

json_members::json_members(std::string_view object) : text_(object), at_(0)
{
    if (!pass(text_, at_, '{'))
        at_ = text_.size();
}

std::optional<json_member_text> json_members::next()
{
    const auto key = take_value(text_, at_);
    if (key.empty() || key.front() != '"' || !pass(text_, at_, ':'))
        return std::nullopt;
    const auto value = take_value(text_, at_);
    if (value.empty())
        return std::nullopt;
    pass(text_, at_, ',');
    return json_member_text{key, value};
}

json_elements::json_elements(std::string_view array) : text_(array), at_(0)
{
    if (!pass(text_, at_, '['))
        at_ = text_.size();
}

std::optional<std::string_view> json_elements::next()
{
    const auto value = take_value(text_, at_);
    if (value.empty())
        return std::nullopt;
    pass(text_, at_, ',');
    return value;
}

std::optional<std::string_view> json_member(std::string_view object, std::string_view name)
{
    json_members members(object);
    while (const auto member = members.next())
        if (member->is(name))
            return member->value;
    return std::nullopt;
}

bool is_json_object(std::string_view value)
{
    return first_of(value) == '{';
}

bool is_json_array(std::string_view value)
{
    return first_of(value) == '[';
}

bool is_json_string(std::string_view value)
{
    return first_of(value) == '"';
}

std::optional<std::string> json_string(std::string_view value)
{
    if (!is_json_string(value))
        return std::nullopt;
    boost::system::error_code ec;
    const auto parsed = boost::json::parse(value, ec);
    if (ec || !parsed.is_string())
        return std::nullopt;
    return std::string(parsed.get_string());
}

}  // namespace restante
