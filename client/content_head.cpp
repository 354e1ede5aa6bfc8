#include "client/content_head.hpp"

#include <string>

namespace restante::client {

namespace {

failure wrong(std::string code, std::string text)
{
    return {exit_code::gave_up, std::move(code), std::move(text), true};
}

}  // namespace

outcome<std::uint64_t> check_content(const content_head& head, std::uint64_t asked_from, std::uint64_t size,
                                     std::string_view sha256)
{
    if (!head.content_encoding.empty() && head.content_encoding != "identity")
        return wrong("wrong_content", "The server has encoded the file, which nobody asked for.");
    if (!sha256.empty() && head.etag.size() == 66 && head.etag.substr(1, 64) != sha256)
        return wrong("wrong_content", "The server has another file under this id than its feed says.");

    if (head.status == 200) {
        if (head.length && *head.length != size)
            return wrong("wrong_length", "The server announces " + std::to_string(*head.length) +
                                             " bytes of a file that has " + std::to_string(size) + ".");
        return 0;
    }
    const auto expected =
        "bytes " + std::to_string(asked_from) + '-' + std::to_string(size - 1) + '/' + std::to_string(size);
    if (head.status != 206 || asked_from == 0 || head.content_range != expected)
        return wrong("wrong_range", "The server sends another part of the file than was asked for.");
    if (head.length && *head.length != size - asked_from)
        return wrong("wrong_length", "The server announces " + std::to_string(*head.length) +
                                         " bytes where " + std::to_string(size - asked_from) +
                                         " are missing.");
    return asked_from;
}

}  // namespace restante::client
