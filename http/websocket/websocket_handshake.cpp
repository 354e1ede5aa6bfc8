#include "http/websocket/websocket_handshake.hpp"

#include "core/encoding.hpp"
#include "core/text.hpp"

#include <boost/beast/http/field.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/verb.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace restante {

namespace {

namespace http = boost::beast::http;

constexpr std::array<std::string_view, 2> formats{"restante.v1", "molecule-ws"};
constexpr std::string_view bearer_prefix = "bearer.";
constexpr std::string_view hex_prefix = "molecule-auth.";
constexpr std::size_t longest_token = 512;

bool holds_token(std::string_view list, std::string_view wanted)
{
    for (const auto word : http::token_list(list))
        if (iequals(word, wanted))
            return true;
    return false;
}

// Sixteen bytes in base64: 22 characters and two of padding.
bool is_nonce(std::string_view key)
{
    if (key.size() != 24 || !key.ends_with("=="))
        return false;
    std::string text(key.substr(0, 22));
    std::replace(text.begin(), text.end(), '+', '-');
    std::replace(text.begin(), text.end(), '/', '_');
    const auto bytes = from_base64url(text);
    return bytes && bytes->size() == 16;
}

std::string_view value_of(const request_header& head, http::field name)
{
    const auto at = head.find(name);
    if (at == head.end())
        return {};
    return at->value();
}

bool is_visible(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

// Nothing when the word is no token; empty when it is a broken one.
std::optional<std::string> token_in(std::string_view word)
{
    if (word.starts_with(bearer_prefix))
        return std::string(word.substr(bearer_prefix.size()));
    if (word.starts_with(hex_prefix))
        return from_hex(word.substr(hex_prefix.size())).value_or("");
    return std::nullopt;
}

void take_offer(std::string_view word, protocol_offer& into)
{
    const auto format = std::find(formats.begin(), formats.end(), word);
    if (format != formats.end() && into.format.empty())
        into.format = *format;
    const auto token = token_in(word);
    if (!token)
        return;
    // Two tokens are ambiguous.
    const bool usable = !into.has_token && token->size() <= longest_token && is_visible(*token);
    into.has_token = true;
    into.token = usable ? *token : std::string();
}

}  // namespace

protocol_offer read_protocol_offer(const request_header& head)
{
    protocol_offer offer;
    const auto [first, last] = head.equal_range(http::field::sec_websocket_protocol);
    for (auto field = first; field != last; ++field)
        for (const auto word : http::token_list(field->value()))
            take_offer(word, offer);
    return offer;
}

std::optional<errc> refuse_handshake(const request_header& head)
{
    if (head.method() != http::verb::get || head.version() != 11 ||
        !holds_token(value_of(head, http::field::connection), "upgrade") ||
        !holds_token(value_of(head, http::field::upgrade), "websocket") ||
        value_of(head, http::field::sec_websocket_version) != "13")
        return errc::upgrade_required;
    if (head.count(http::field::sec_websocket_key) != 1 ||
        !is_nonce(value_of(head, http::field::sec_websocket_key)))
        return errc::bad_request;
    return std::nullopt;
}

}  // namespace restante
