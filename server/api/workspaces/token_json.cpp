#include "server/api/workspaces/token_json.hpp"

#include "server/api/common/json_values.hpp"

namespace restante {

boost::json::object to_json(const token_info& token)
{
    return {{"token_id", to_string(token.id)},
            {"prefix", token.prefix},
            {"scope", to_string(token.scope)},
            {"name", value_or_null(token.name)},
            {"created_at", rfc3339(token.created_at)},
            {"last_used_at", value_or_null(token.last_used_at)},
            {"expires_at", value_or_null(token.expires_at)},
            {"revoked_at", value_or_null(token.revoked_at)}};
}

}  // namespace restante
