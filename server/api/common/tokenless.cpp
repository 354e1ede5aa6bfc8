#include "server/api/common/tokenless.hpp"

#include "http/message/field_grammar.hpp"
#include "http/message/origin.hpp"

#include <algorithm>
#include <array>

namespace restante {

namespace http = boost::beast::http;

namespace {

bool declares_json(const request_header& head)
{
    const auto field = head.find(http::field::content_type);
    if (field == head.end())
        return false;
    const std::string_view type = field->value();
    return iequals(trim_blanks(type.substr(0, type.find(';'))), "application/json");
}

bool registration_is_open(const tokenless_request& request, const tokenless_policy& policy)
{
    switch (policy.registration) {
        case open_registration::nobody: return false;
        case open_registration::unless_forwarded: return !was_forwarded(request.head);
        case open_registration::everybody: return true;
    }
    return false;
}

result<principal> find_open_door(const tokenless_request& request, const tokenless_policy& policy)
{
    if (policy.dev && request.from_loopback && !was_forwarded(request.head))
        return principal{.kind = principal_kind::dev};
    const bool names_itself = request.wanted == scope::registration || request.wanted == scope::heartbeat;
    if (names_itself && registration_is_open(request, policy))
        return principal{};
    return RESTANTE_ERROR(errc::missing_token);
}

}  // namespace

result<principal> admit_without_token(const tokenless_request& request, const tokenless_policy& policy,
                                      const cors_policy& allowed)
{
    auto who = find_open_door(request, policy);
    if (!who)
        return who;
    if (is_cross_site(request.head, request.encrypted, allowed))
        return RESTANTE_ERROR(errc::cross_site);
    if (request.takes_json && !declares_json(request.head))
        return RESTANTE_ERROR(errc::unsupported_media_type);
    return who;
}

bool was_forwarded(const request_header& head)
{
    constexpr std::array<std::string_view, 4> marks{"X-Forwarded-For", "X-Real-IP", "Forwarded", "Via"};
    return std::any_of(marks.begin(), marks.end(),
                       [&](std::string_view mark) { return head.find(mark) != head.end(); });
}

}  // namespace restante
