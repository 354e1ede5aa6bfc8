#include "http/message/cors.hpp"

#include "core/text.hpp"
#include "http/message/web_origin.hpp"

#include <algorithm>

namespace restante {

namespace {

constexpr const char* readable_fields =
    "X-Request-Id, Retry-After, ETag, Repr-Digest, Content-Disposition, Content-Range, Accept-Ranges, "
    "Idempotency-Replayed, X-Trace-Id";
constexpr const char* sendable_fields =
    "Origin, Authorization, Content-Type, Idempotency-Key, X-Request-Id, Range, If-Range, If-None-Match, "
    "Last-Event-ID, traceparent, X-Workspace-ID, X-Molecule-Org-Id, X-Molecule-Org-Slug, X-Confirm-Name";
constexpr const char* preflight_seconds = "600";

}  // namespace

cors_policy::cors_policy(std::vector<std::string> allowed_origins, std::string own_url)
    : origins_(std::move(allowed_origins)),
      any_(std::find(origins_.begin(), origins_.end(), "*") != origins_.end()),
      own_url_(std::move(own_url))
{
}

bool cors_policy::allows(std::string_view origin) const
{
    if (origin.empty())
        return false;
    return any_ || std::find(origins_.begin(), origins_.end(), origin) != origins_.end();
}

bool cors_policy::is_own(std::string_view origin) const
{
    const auto own = read_web_origin(own_url_);
    const auto named = read_web_origin(origin);
    return own && named && own->encrypted == named->encrypted && iequals(own->authority, named->authority);
}

cors_fields cors_policy::permission_fields(std::string_view origin) const
{
    cors_fields fields;
    if (origins_.empty())
        return fields;
    if (any_) {
        fields.push_back({"Access-Control-Allow-Origin", "*"});
        return fields;
    }
    fields.push_back({"Vary", "Origin"});
    if (allows(origin)) {
        fields.push_back({"Access-Control-Allow-Origin", std::string(origin)});
        fields.push_back({"Access-Control-Allow-Credentials", "true"});
    }
    return fields;
}

cors_fields cors_policy::response_fields(std::string_view origin) const
{
    auto fields = permission_fields(origin);
    if (allows(origin))
        fields.push_back({"Access-Control-Expose-Headers", readable_fields});
    return fields;
}

cors_fields cors_policy::preflight_fields(std::string_view origin, const method_set& allowed) const
{
    auto fields = permission_fields(origin);
    if (allows(origin)) {
        fields.push_back({"Access-Control-Allow-Methods", allowed.to_string()});
        fields.push_back({"Access-Control-Allow-Headers", sendable_fields});
        fields.push_back({"Access-Control-Max-Age", preflight_seconds});
    }
    return fields;
}

}  // namespace restante
