#include "http/websocket/websocket_handshake.hpp"

#include "core/encoding.hpp"
#include "core/text.hpp"

#include <boost/beast/http/field.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/verb.hpp>

#include <algorithm>
#include <string>

namespace restante {

namespace {

namespace http = boost::beast::http;

constexpr std::string_view bearer_prefix = "bearer.";
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

void take_offer(std::string_view word, protocol_offer& into)
{
    if (word == event_protocol)
        into.event_protocol = true;
    if (!word.starts_with(bearer_prefix))
        return;
    const auto token = word.substr(bearer_prefix.size());
    // Two tokens are ambiguous.
    const bool usable = !into.has_token && token.size() <= longest_token;
    into.has_token = true;
    into.token = usable ? token : std::string_view();
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
