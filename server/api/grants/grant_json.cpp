#include "server/api/grants/grant_json.hpp"

#include "server/api/common/json_values.hpp"

#include <boost/json/array.hpp>

namespace restante {

namespace {

boost::json::object to_json(const grant_amounts& amounts)
{
    return {{"requests", amounts.requests}, {"files", amounts.files}, {"bytes", amounts.bytes}};
}

boost::json::value types_json(const grant_terms& terms)
{
    if (terms.types.empty())
        return nullptr;
    return boost::json::array(terms.types.begin(), terms.types.end());
}

}  // namespace

boost::json::object terms_json(const grant_info& grant)
{
    const auto& terms = grant.terms;
    return {{"note", value_or_null(grant.token.name)},
            {"max_requests", terms.limit.requests},
            {"max_files", terms.limit.files},
            {"max_bytes", terms.limit.bytes},
            {"types", types_json(terms)},
            {"left", to_json(terms.left())}};
}

boost::json::object to_json(const grant_info& grant)
{
    const auto& token = grant.token;
    const auto& terms = grant.terms;
    return {{"grant_id", to_string(token.id)},
            {"prefix", token.prefix},
            {"note", value_or_null(token.name)},
            {"created_by", grant.created_by},
            {"created_at", rfc3339(token.created_at)},
            {"expires_at", value_or_null(token.expires_at)},
            {"revoked_at", value_or_null(token.revoked_at)},
            {"last_used_at", value_or_null(token.last_used_at)},
            {"max_requests", terms.limit.requests},
            {"max_files", terms.limit.files},
            {"max_bytes", terms.limit.bytes},
            {"types", types_json(terms)},
            {"used", to_json(terms.used)},
            {"left", to_json(terms.left())}};
}

std::string page_url(std::string_view base, std::string_view grant)
{
    return std::string(base) + "/send#" + std::string(grant);
}

}  // namespace restante
