#include "http/message/json_reader.hpp"

#include <boost/json/array.hpp>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value_stack.hpp>

namespace restante {

namespace json = boost::json;

namespace {

// Builds the value and counts the keys. Boost.JSON silently keeps the last of two members with one key; the
// count reveals an object that has lost a member.
struct counting_builder {
    static constexpr std::size_t max_object_size = json::object::max_size();
    static constexpr std::size_t max_array_size = json::array::max_size();
    static constexpr std::size_t max_key_size = json::string::max_size();
    static constexpr std::size_t max_string_size = json::string::max_size();

    using view = json::string_view;

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
    json::parse_options strict;
    strict.max_depth = 32;
    json::basic_parser<counting_builder> parser(strict);
    auto& built = parser.handler();
    built.stack.reset();

    json::error_code ec;
    const auto used = parser.write_some(false, text.data(), text.size(), ec);
    if (ec || !parser.done() || used < text.size())
        return RESTANTE_ERROR(errc::malformed_json);
    auto value = built.stack.release();
    if (count_members(value) != built.keys)
        return RESTANTE_ERROR(errc::malformed_json);
    return value;
}

}  // namespace restante
