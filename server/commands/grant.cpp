#include "server/commands/grant.hpp"

#include "auth/token.hpp"
#include "cli/config_values.hpp"
#include "server/api/grants/grant_form.hpp"
#include "server/api/grants/grant_json.hpp"
#include "server/commands/flag_values.hpp"
#include "server/commands/plain_words.hpp"
#include "server/commands/stores.hpp"
#include "server/commands/text_table.hpp"

#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <iostream>

namespace restante {

namespace {

namespace json = boost::json;

// The flags as the body that the API takes, which judges the rest of it.
std::optional<std::string> read_flags(const own_options& own, json::object& body)
{
    if (auto wrong = put_lifetime(body, own.expires, longest_grant_life))
        return wrong;
    if (auto wrong = put_count(body, "max_requests", "--requests", own.requests, most_grant_requests))
        return wrong;
    if (auto wrong = put_count(body, "max_files", "--files", own.files, most_grant_files))
        return wrong;
    if (auto wrong = put_size(body, "max_bytes", "--bytes", own.bytes, most_grant_bytes))
        return wrong;
    if (!own.types.empty()) {
        std::vector<std::string> types;
        boost::split(types, own.types, boost::is_any_of(","));
        body["types"] = json::array(types.begin(), types.end());
    }
    body["note"] = own.note;
    return std::nullopt;
}

std::string base_of(const settings& config)
{
    if (!config.public_url.text.empty())
        return config.public_url.text;
    return "http://" + format_host_port(settings().listen.front());
}

awaitable<result<void>> create(command_stores on, const command& asked, uuid workspace, grant_request wanted)
{
    auto fresh = make_token();
    fresh.kept.scope = token_scope::grant;
    fresh.kept.name = wanted.note;
    fresh.kept.lifetime = wanted.lifetime;
    const new_grant grant{.terms = wanted.terms};
    const auto minted = co_await on.tokens.mint_grant(workspace, fresh.kept, grant);
    if (!minted)
        co_return minted.error();
    const auto link = page_url(base_of(asked.config), fresh.secret);
    if (asked.own.json) {
        auto output = to_json(*minted);
        output["grant"] = fresh.secret;
        output["page_url"] = link;
        std::cout << json::serialize(output) << '\n';
        co_return result<void>();
    }
    std::cerr << "grant " << to_string(minted->token.id) << " until " << cell(minted->token.expires_at)
              << ", shown once:\n";
    if (asked.config.public_url.text.empty())
        std::cerr << "It leads to this machine: --public-url says where others reach the server.\n";
    std::cout << link << '\n';
    co_return result<void>();
}

std::string share(std::int64_t left, std::int64_t of)
{
    return std::to_string(left) + '/' + std::to_string(of);
}

awaitable<result<void>> list(command_stores on, uuid workspace, bool as_json)
{
    const auto grants = co_await on.tokens.list_grants(workspace);
    if (!grants)
        co_return grants.error();
    // None at all, or a mistyped id? What a removed workspace had is shown.
    if (grants->empty())
        if (const auto known = co_await on.workspaces.find(workspace); !known)
            co_return known.error();
    json::array output;
    text_table table{"GRANT_ID",   "PREFIX",  "BY",      "REQUESTS LEFT", "FILES LEFT",
                     "BYTES LEFT", "EXPIRES", "REVOKED", "NOTE"};
    for (const auto& grant : *grants) {
        const auto left = grant.terms.left();
        const auto& limit = grant.terms.limit;
        output.emplace_back(to_json(grant));
        table.add({to_string(grant.token.id), grant.token.prefix, grant.created_by,
                   share(left.requests, limit.requests), share(left.files, limit.files),
                   in_bytes(left.bytes) + " of " + in_bytes(limit.bytes), cell(grant.token.expires_at),
                   cell(grant.token.revoked_at), cell(grant.token.name)});
    }
    if (as_json)
        std::cout << json::serialize(output) << '\n';
    else
        table.print(std::cout);
    co_return result<void>();
}

awaitable<result<void>> revoke(command_stores on, uuid workspace, uuid grant)
{
    const auto revoked = co_await on.tokens.revoke_grant(workspace, grant);
    if (revoked)
        std::cerr << "grant " << to_string(grant) << " revoked; running servers follow within 5 s\n";
    co_return revoked;
}

int refuse(const std::string& sentence)
{
    std::cerr << sentence << '\n';
    return usage_error::exit_code;
}

int run_create(const command& asked, const uuid& workspace)
{
    json::object body;
    if (const auto wrong = read_flags(asked.own, body))
        return refuse(*wrong);
    const auto wanted = read_grant_request(body);
    if (!wanted)  // the names of what is left are those of the flags
        return refuse("--" + wanted.error().sentence.value_or("note is not valid") + '.');
    return with_stores(asked.config,
                       [&](command_stores on) { return create(on, asked, workspace, *wanted); });
}

}  // namespace

int run_grant(const command& asked)
{
    const uuid workspace = *parse_uuid(asked.arguments[0]);
    if (asked.what == verb::grant_create)
        return run_create(asked, workspace);
    if (asked.what == verb::grant_list)
        return with_stores(asked.config,
                           [&](command_stores on) { return list(on, workspace, asked.own.json); });
    const auto grant = parse_uuid(asked.arguments[1]);
    if (!grant)
        return refuse("GRANT_ID must be a UUID, as `restante grant list` shows it.");
    return with_stores(asked.config, [&](command_stores on) { return revoke(on, workspace, *grant); });
}

}  // namespace restante
