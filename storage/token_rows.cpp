#include "storage/token_rows.hpp"

#include <algorithm>

namespace restante {

namespace {

result<token_scope> read_scope(const pq::field& from)
{
    const auto text = from.as<std::string_view>();
    const auto scope = text ? parse_token_scope(*text) : std::nullopt;
    if (!scope)
        return RESTANTE_ERROR(errc::wrong_column_type);
    return *scope;
}

result<grant_amounts> read_amounts(const pq::row& from, int first)
{
    const auto requests = from[first].as<std::int64_t>();
    const auto files = from[first + 1].as<std::int64_t>();
    const auto bytes = from[first + 2].as<std::int64_t>();
    if (!requests || !files || !bytes)
        return RESTANTE_ERROR(errc::wrong_column_type);
    return grant_amounts{*requests, *files, *bytes};
}

// Limits, what is used, and types: seven columns.
result<grant_terms> read_terms(const pq::row& from, int first)
{
    const auto limit = read_amounts(from, first);
    const auto used = read_amounts(from, first + 3);
    auto types = from[first + 6].as<std::optional<std::vector<std::string>>>();
    if (!limit || !used || !types)
        return RESTANTE_ERROR(errc::wrong_column_type);
    return grant_terms{*limit, *used, std::move(*types).value_or(std::vector<std::string>())};
}

}  // namespace

result<token_owner> read_token_owner(const pq::row& row)
{
    const auto hash = row[0].as<pq::blob>();
    const auto token = row[1].as<uuid>();
    const auto facts = read_workspace_facts(row, 2);
    const auto scope = read_scope(row[7]);
    const auto life_left = row[8].as<std::optional<std::int64_t>>();
    if (!hash || !token || !facts || !scope || !life_left || hash->size() != digest32{}.size())
        return RESTANTE_ERROR(errc::wrong_column_type);
    token_owner owner{.token = *token, .scope = *scope, .workspace = *facts};
    std::copy(hash->begin(), hash->end(), owner.hash.begin());
    if (*life_left)
        owner.life_left = std::chrono::microseconds(**life_left);
    if (*scope != token_scope::grant)
        return owner;
    auto terms = read_terms(row, 9);
    if (!terms)
        return terms.error();
    owner.grant = std::make_shared<const grant_terms>(std::move(*terms));
    return owner;
}

result<token_info> read_token_info(const pq::row& row)
{
    using moment = std::optional<timestamp>;
    const auto scope = read_scope(row[2]);
    auto values = row.as<uuid, std::string, std::string_view, std::optional<std::string>, timestamp, moment,
                         moment, moment>();
    if (!scope || !values)
        return RESTANTE_ERROR(errc::wrong_column_type);
    auto& [id, prefix, text, name, created_at, last_used_at, expires_at, revoked_at] = *values;
    return token_info{id,         std::move(prefix), *scope,     std::move(name),
                      created_at, last_used_at,      expires_at, revoked_at};
}

result<grant_info> read_grant_info(const pq::row& row)
{
    auto info = read_token_info(row);
    auto created_by = row[8].as<std::string>();
    auto terms = read_terms(row, 9);
    if (!info || !created_by || !terms)
        return RESTANTE_ERROR(errc::wrong_column_type);
    return grant_info{std::move(*info), std::move(*created_by), std::move(*terms)};
}

}  // namespace restante
