#include "bench/answer_reader.hpp"

#include "core/text.hpp"

#include <charconv>
#include <string>

namespace restante::bench {

namespace {

template <class Number>
bool read_number(std::string_view text, Number& into)
{
    return std::from_chars(text.data(), text.data() + text.size(), into).ec == std::errc();
}

}  // namespace

answer_head read_head(std::string_view received)
{
    constexpr std::string_view version = "HTTP/1.1 ";
    constexpr std::string_view length_field = "content-length:";
    const auto end = received.find("\r\n\r\n");
    if (end == std::string_view::npos)
        return {};
    answer_head head{.size = end + 4, .valid = false};
    if (!received.starts_with(version) || !read_number(received.substr(version.size()), head.status))
        return head;
    for (auto line = received.find("\r\n"); line < end; line = received.find("\r\n", line + 2)) {
        const auto field = received.substr(line + 2, end - line - 2);
        if (istarts_with(field, length_field)) {
            head.valid = read_number(trim_blanks(field.substr(length_field.size())), head.length);
            return head;
        }
    }
    head.valid = head.status == 204 || head.status == 304;
    return head;
}

std::string_view text_member(std::string_view json, std::string_view name)
{
    const auto key = '"' + std::string(name) + "\":\"";
    const auto at = json.find(key);
    if (at == std::string_view::npos)
        return {};
    const auto value = json.substr(at + key.size());
    return value.substr(0, value.find('"'));
}

}  // namespace restante::bench
