#include "http/message/origin.hpp"

#include "http/message/field_grammar.hpp"
#include "http/message/host_policy.hpp"
#include "http/message/web_origin.hpp"

namespace restante {

namespace http = boost::beast::http;

namespace {

std::string_view origin_of(const request_header& head)
{
    const auto field = head.find(http::field::origin);
    return field == head.end() ? std::string_view() : std::string_view(field->value());
}

}  // namespace

bool is_own_origin(std::string_view origin, std::string_view host, bool encrypted) noexcept
{
    const auto named = read_web_origin(origin);
    return named && (named->encrypted || !encrypted) &&
           iequals(named->authority, without_usual_port(host, named->encrypted));
}

bool has_welcome_origin(const request_header& head, bool encrypted, const cors_policy& allowed)
{
    const auto fields = head.count(http::field::origin);
    if (fields == 0)
        return true;
    const auto origin = origin_of(head);
    return fields == 1 && (allowed.allows(origin) || allowed.is_own(origin) ||
                           is_own_origin(origin, requested_host(head), encrypted));
}

bool is_cross_site(const request_header& head, bool encrypted, const cors_policy& allowed)
{
    if (!has_welcome_origin(head, encrypted, allowed))
        return true;
    if (allowed.allows(origin_of(head)))
        return false;
    const auto site = head.find("Sec-Fetch-Site");
    return site != head.end() && !iequals(site->value(), "same-origin") && !iequals(site->value(), "none");
}

}  // namespace restante
