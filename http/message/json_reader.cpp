#include "http/message/json_reader.hpp"

#include <boost/json/array.hpp>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value_stack.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace restante {

namespace json = boost::json;

namespace {

// What Boost.JSON's parser asks of every handler.
struct handler_limits {
    static constexpr std::size_t max_object_size = json::object::max_size();
    static constexpr std::size_t max_array_size = json::array::max_size();
    static constexpr std::size_t max_key_size = json::string::max_size();
    static constexpr std::size_t max_string_size = json::string::max_size();

    using view = json::string_view;
};

// Builds the value and counts the keys. Boost.JSON silently keeps the last of two members with one key; the
// count reveals an object that has lost a member.
struct counting_builder : handler_limits {
    bool on_document_begin(error_code&) { return true; }
    bool on_document_end(error_code&) { return true; }
    bool on_object_begin(error_code&) { return true; }
    bool on_array_begin(error_code&) { return true; }
    bool on_object_end(std::size_t members, error_code&)
    {
        return keys += members, stack.push_object(members), true;
    }
    bool on_array_end(std::size_t elements, error_code&) { return stack.push_array(elements), true; }
    bool on_key_part(view text, std::size_t, error_code&) { return stack.push_chars(text), true; }
    bool on_key(view text, std::size_t, error_code&) { return stack.push_key(text), true; }
    bool on_string_part(view text, std::size_t, error_code&) { return stack.push_chars(text), true; }
    bool on_string(view text, std::size_t, error_code&) { return stack.push_string(text), true; }
    bool on_number_part(view, error_code&) { return true; }
    bool on_int64(std::int64_t number, view, error_code&) { return stack.push_int64(number), true; }
    bool on_uint64(std::uint64_t number, view, error_code&) { return stack.push_uint64(number), true; }
    bool on_double(double number, view, error_code&) { return stack.push_double(number), true; }
    bool on_bool(bool truth, error_code&) { return stack.push_bool(truth), true; }
    bool on_null(error_code&) { return stack.push_null(), true; }
    bool on_comment_part(view, error_code&) { return true; }
    bool on_comment(view, error_code&) { return true; }

    json::value_stack stack;
    std::size_t keys = 0;
};

// Looks for a key that comes twice, by the hashes of the keys of each object that is open.
struct key_checker : handler_limits {
    bool on_document_begin(error_code&) { return true; }
    bool on_document_end(error_code&) { return true; }
    bool on_object_begin(error_code&) { return begins.push_back(hashes.size()), true; }
    bool on_object_end(std::size_t, error_code& ec)
    {
        const auto begin = hashes.begin() + static_cast<std::ptrdiff_t>(begins.back());
        begins.pop_back();
        std::sort(begin, hashes.end());
        // Two different keys with one hash are refused as well: once in millions of millions of objects.
        if (std::adjacent_find(begin, hashes.end()) != hashes.end())
            ec = errc::malformed_json;
        hashes.erase(begin, hashes.end());
        return !ec;
    }
    bool on_array_begin(error_code&) { return true; }
    bool on_array_end(std::size_t, error_code&) { return true; }
    bool on_key_part(view text, std::size_t, error_code&) { return key.append(text), true; }
    bool on_key(view text, std::size_t, error_code&)
    {
        key.append(text);
        hashes.push_back(std::hash<std::string_view>()(key));
        key.clear();
        return true;
    }
    bool on_string_part(view, std::size_t, error_code&) { return true; }
    bool on_string(view, std::size_t, error_code&) { return true; }
    bool on_number_part(view, error_code&) { return true; }
    bool on_int64(std::int64_t, view, error_code&) { return true; }
    bool on_uint64(std::uint64_t, view, error_code&) { return true; }
    bool on_double(double, view, error_code&) { return true; }
    bool on_bool(bool, error_code&) { return true; }
    bool on_null(error_code&) { return true; }
    bool on_comment_part(view, error_code&) { return true; }
    bool on_comment(view, error_code&) { return true; }

    std::vector<std::size_t> begins;  // of each open object, in hashes
    std::vector<std::size_t> hashes;
    std::string key;
};

json::parse_options strict_options()
{
    json::parse_options strict;
    strict.max_depth = 32;
    return strict;
}

template <class Handler>
bool accepts(json::basic_parser<Handler>& parser, std::string_view text)
{
    json::error_code ec;
    const auto used = parser.write_some(false, text.data(), text.size(), ec);
    return !ec && parser.done() && used == text.size();
}

std::size_t count_members(const json::value& value)
{
    std::size_t members = 0;
    if (const auto* object = value.if_object()) {
        members = object->size();
        for (const auto& member : *object)
            members += count_members(member.value());
    } else if (const auto* array = value.if_array()) {
        for (const auto& element : *array)
            members += count_members(element);
    }
    return members;
}

}  // namespace

result<json::value> parse_json(std::string_view text)
{
    json::basic_parser<counting_builder> parser(strict_options());
    auto& built = parser.handler();
    built.stack.reset();

    if (!accepts(parser, text))
        return RESTANTE_ERROR(errc::malformed_json);
    auto value = built.stack.release();
    if (count_members(value) != built.keys)
        return RESTANTE_ERROR(errc::malformed_json);
    return value;
}

result<void> check_json(std::string_view text)
{
    json::basic_parser<key_checker> parser(strict_options());
    if (!accepts(parser, text))
        return RESTANTE_ERROR(errc::malformed_json);
    return {};
}

}  // namespace restante
