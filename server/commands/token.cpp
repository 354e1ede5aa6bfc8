#include "server/commands/token.hpp"

#include "auth/token.hpp"
#include "server/api/workspaces/token_form.hpp"
#include "server/api/workspaces/token_json.hpp"
#include "server/commands/flag_values.hpp"
#include "server/commands/stores.hpp"
#include "server/commands/text_table.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <iostream>

namespace restante {

namespace {

awaitable<result<void>> issue(command_stores on, uuid workspace, token_request asked, bool as_json)
{
    auto fresh = make_token();
    fresh.kept.scope = asked.scope;
    fresh.kept.name = asked.name;
    fresh.kept.lifetime = asked.lifetime;
    const auto minted = co_await on.tokens.mint(workspace, fresh.kept);
    if (!minted)
        co_return minted.error();
    if (as_json) {
        auto output = to_json(*minted);
        output["auth_token"] = fresh.secret;
        std::cout << boost::json::serialize(output) << '\n';
        co_return result<void>();
    }
    std::cerr << "token " << to_string(minted->id) << ", shown once:\n";
    std::cout << fresh.secret << '\n';
    co_return result<void>();
}

awaitable<result<void>> list(command_stores on, uuid workspace, bool as_json)
{
    const auto tokens = co_await on.tokens.list(workspace);
    if (!tokens)
        co_return tokens.error();
    // None at all, or a mistyped id? What a removed workspace had is shown.
    if (tokens->empty())
        if (const auto known = co_await on.workspaces.find(workspace); !known)
            co_return known.error();
    if (as_json) {
        boost::json::array output;
        for (const auto& token : *tokens)
            output.emplace_back(to_json(token));
        std::cout << boost::json::serialize(output) << '\n';
        co_return result<void>();
    }
    text_table table{"TOKEN_ID", "PREFIX", "SCOPE", "CREATED", "LAST USED", "EXPIRES", "REVOKED", "NAME"};
    for (const auto& token : *tokens)
        table.add({to_string(token.id), token.prefix, std::string(to_string(token.scope)),
                   rfc3339(token.created_at), cell(token.last_used_at), cell(token.expires_at),
                   cell(token.revoked_at), cell(token.name)});
    table.print(std::cout);
    co_return result<void>();
}

awaitable<result<void>> revoke(command_stores on, uuid workspace, uuid token)
{
    const auto revoked = co_await on.tokens.revoke(workspace, token);
    if (revoked)
        std::cerr << "token " << to_string(token) << " revoked; running servers follow within 5 s\n";
    co_return revoked;
}

int refuse(const std::string& sentence)
{
    std::cerr << sentence << '\n';
    return usage_error::exit_code;
}

int run_issue(const command& asked, const uuid& workspace)
{
    boost::json::object body{{"scope", asked.own.scope}, {"name", asked.own.name}};
    if (const auto wrong = put_lifetime(body, asked.own.expires, longest_token_life))
        return refuse(*wrong);
    const auto wanted = read_token_request(body);
    if (!wanted)  // the names of what is left are those of the flags
        return refuse("--" + wanted.error().sentence.value_or("name is not valid") + '.');
    return with_stores(asked.config,
                       [&](command_stores on) { return issue(on, workspace, *wanted, asked.own.json); });
}

}  // namespace

int run_token(const command& asked)
{
    const uuid workspace = *parse_uuid(asked.arguments[0]);
    if (asked.what == verb::token_issue)
        return run_issue(asked, workspace);
    if (asked.what == verb::token_list)
        return with_stores(asked.config,
                           [&](command_stores on) { return list(on, workspace, asked.own.json); });
    const auto token = parse_uuid(asked.arguments[1]);
    if (!token)
        return refuse("TOKEN_ID must be a UUID, as `restante token list` shows it.");
    return with_stores(asked.config, [&](command_stores on) { return revoke(on, workspace, *token); });
}

}  // namespace restante
