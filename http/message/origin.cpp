#include "http/message/origin.hpp"

#include "http/message/field_grammar.hpp"
#include "http/message/host_policy.hpp"

namespace restante {

namespace http = boost::beast::http;

namespace {

// An Origin leaves the port out where it is the usual one; a Host may have it all the same.
std::string_view without_usual_port(std::string_view host, std::string_view port)
{
    if (host.ends_with(port))
        host.remove_suffix(port.size());
    return host;
}

bool names_host(std::string_view origin, std::string_view scheme, std::string_view port,
                std::string_view host)
{
    if (!origin.starts_with(scheme))
        return false;
    origin.remove_prefix(scheme.size());
    return !origin.empty() && iequals(origin, without_usual_port(host, port));
}

std::string_view origin_of(const request_header& head)
{
    const auto field = head.find(http::field::origin);
    return field == head.end() ? std::string_view() : std::string_view(field->value());
}

}  // namespace

bool is_own_origin(std::string_view origin, std::string_view host, bool encrypted) noexcept
{
    return names_host(origin, "https://", ":443", host) ||
           (!encrypted && names_host(origin, "http://", ":80", host));
}

bool has_welcome_origin(const request_header& head, bool encrypted, const cors_policy& allowed)
{
    const auto fields = head.count(http::field::origin);
    if (fields == 0)
        return true;
    const auto origin = origin_of(head);
    return fields == 1 && (allowed.allows(origin) || is_own_origin(origin, requested_host(head), encrypted));
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
