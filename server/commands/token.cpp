#include "server/commands/token.hpp"

#include "auth/token.hpp"
#include "server/api/workspaces/token_json.hpp"
#include "server/commands/stores.hpp"
#include "server/commands/text_table.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <iostream>

namespace restante {

namespace {

awaitable<result<void>> issue(command_stores on, uuid workspace)
{
    const auto fresh = make_token();
    const auto minted = co_await on.tokens.mint(workspace, fresh.kept);
    if (!minted)
        co_return minted.error();
    std::cerr << "token " << to_string(minted->id) << ", shown once:\n";
    std::cout << fresh.secret << '\n';
    co_return result<void>();
}

std::string time_or_dash(const std::optional<timestamp>& when)
{
    return when ? rfc3339(*when) : "-";
}

awaitable<result<void>> list(command_stores on, uuid workspace, bool as_json)
{
    const auto tokens = co_await on.tokens.list(workspace);
    if (!tokens)
        co_return tokens.error();
    if (as_json) {
        boost::json::array output;
        for (const auto& token : *tokens)
            output.emplace_back(to_json(token));
        std::cout << boost::json::serialize(output) << '\n';
        co_return result<void>();
    }
    text_table table{"TOKEN_ID", "PREFIX", "CREATED", "LAST USED", "REVOKED"};
    for (const auto& token : *tokens)
        table.add({to_string(token.id), token.prefix, rfc3339(token.created_at),
                   time_or_dash(token.last_used_at), time_or_dash(token.revoked_at)});
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

}  // namespace

int run_token(const command& asked)
{
    const uuid workspace = *parse_uuid(asked.arguments[0]);
    if (asked.what == verb::token_issue)
        return with_stores(asked.config, [&](command_stores on) { return issue(on, workspace); });
    if (asked.what == verb::token_list)
        return with_stores(asked.config,
                           [&](command_stores on) { return list(on, workspace, asked.own.json); });
    const auto token = parse_uuid(asked.arguments[1]);
    if (!token) {
        std::cerr << "TOKEN_ID must be a UUID, as `restante token list` shows it.\n";
        return usage_error::exit_code;
    }
    return with_stores(asked.config, [&](command_stores on) { return revoke(on, workspace, *token); });
}

}  // namespace restante
