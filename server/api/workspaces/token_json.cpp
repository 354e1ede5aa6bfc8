#include "server/api/workspaces/token_json.hpp"

#include <boost/json/value.hpp>

namespace restante {

namespace {

boost::json::value time_or_null(const std::optional<timestamp>& when)
{
    if (!when)
        return nullptr;
    return boost::json::value(rfc3339(*when));
}

}  // namespace

boost::json::object to_json(const token_info& token)
{
    return {{"token_id", to_string(token.id)},
            {"prefix", token.prefix},
            {"created_at", rfc3339(token.created_at)},
            {"last_used_at", time_or_null(token.last_used_at)},
            {"revoked_at", time_or_null(token.revoked_at)}};
}

}  // namespace restante
