#include "server/commands/workspace.hpp"

#include "auth/token.hpp"
#include "core/secret_hash.hpp"
#include "server/api/workspaces/registration_form.hpp"
#include "server/commands/plain_words.hpp"
#include "server/commands/stores.hpp"
#include "server/commands/text_table.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <iostream>
#include <unordered_map>

namespace restante {

namespace {

namespace json = boost::json;

std::optional<std::string> unless_empty(const std::string& text)
{
    return text.empty() ? std::nullopt : std::optional(text);
}

// What is wrong with the flags, in a sentence; nothing when they are in order.
std::optional<std::string> check_flags(const own_options& own)
{
    const auto mode = parse_delivery_mode(own.mode);
    if (!mode)
        return "--mode must be poll or push, but \"" + own.mode + "\" was given.";
    switch (find_delivery_fault(*mode, unless_empty(own.url))) {
        case delivery_fault::none: break;
        case delivery_fault::push_without_url: return "--mode push needs --url.";
        case delivery_fault::bad_url: return "--url must be an absolute http or https URL.";
    }
    return std::nullopt;
}

void print_added(const registration& what, const made_token* first, bool as_json)
{
    if (as_json) {
        json::object output{{"id", to_string(what.id)}, {"delivery_mode", to_string(what.mode)}};
        if (first)
            output["auth_token"] = first->secret;
        std::cout << json::serialize(output) << '\n';
        return;
    }
    std::cerr << "workspace " << to_string(what.id) << (first ? " added; its token, shown once:" : " updated")
              << '\n';
    if (first)
        std::cout << first->secret << '\n';
}

awaitable<result<void>> add(command_stores on, const command& asked)
{
    const registration what{.id = asked.arguments.empty() ? make_uuid_v4() : *parse_uuid(asked.arguments[0]),
                            .mode = *parse_delivery_mode(asked.own.mode),
                            .url = unless_empty(asked.own.url),
                            .name = unless_empty(asked.own.name),
                            .agent_card = {},
                            .inbound_secret = make_secret(),
                            .by = registered_by::operator_};
    const auto fresh = make_token();
    const auto done = co_await on.workspaces.register_workspace(what, fresh.kept, caller::proven);
    if (!done)
        co_return done.error();
    print_added(what, done->token == first_token::stored ? &fresh : nullptr, asked.own.json);
    co_return result<void>();
}

json::object to_json(const workspace_info& workspace, const quota_use& waiting)
{
    const auto text_or_null = [](const std::optional<std::string>& text) {
        return text ? json::value(*text) : json::value(nullptr);
    };
    return {
        {"id", to_string(workspace.id)},
        {"name", text_or_null(workspace.name)},
        {"delivery_mode", text_or_null(workspace.mode)},
        {"url", text_or_null(workspace.url)},
        {"status", workspace.status},
        {"live_tokens", workspace.live_tokens},
        {"waiting_files", waiting.files},
        {"waiting_bytes", waiting.bytes},
        {"created_at", rfc3339(workspace.created_at)},
        {"last_seen_at", workspace.last_seen_at ? json::value(rfc3339(*workspace.last_seen_at)) : nullptr},
        {"removed_at", workspace.removed_at ? json::value(rfc3339(*workspace.removed_at)) : nullptr}};
}

awaitable<result<void>> list(command_stores on, bool as_json)
{
    const auto all = co_await on.workspaces.list();
    if (!all)
        co_return all.error();
    const auto counted = co_await on.quotas.all_waiting();
    if (!counted)
        co_return counted.error();
    std::unordered_map<uuid, quota_use, secret_hash> waiting;
    for (const auto& each : *counted)
        waiting.emplace(each.workspace, each.used);
    if (as_json) {
        json::array output;
        for (const auto& workspace : *all)
            output.emplace_back(to_json(workspace, waiting[workspace.id]));
        std::cout << json::serialize(output) << '\n';
        co_return result<void>();
    }
    text_table table{"ID", "NAME", "MODE", "STATUS", "SEEN", "TOKENS", "FILES", "BYTES", "CREATED"};
    for (const auto& workspace : *all)
        table.add({to_string(workspace.id), workspace.name.value_or("-"), workspace.mode.value_or("-"),
                   workspace.status, workspace.last_seen_at ? rfc3339(*workspace.last_seen_at) : "-",
                   std::to_string(workspace.live_tokens), with_separators(waiting[workspace.id].files),
                   in_bytes(waiting[workspace.id].bytes), rfc3339(workspace.created_at)});
    table.print(std::cout);
    co_return result<void>();
}

awaitable<result<void>> remove(command_stores on, uuid workspace)
{
    const auto removed = co_await on.workspaces.remove(workspace);
    if (removed)
        std::cerr << "workspace " << to_string(workspace) << " removed\n";
    co_return removed;
}

awaitable<result<void>> show_secret(command_stores on, uuid workspace, inbound_secret old)
{
    const auto secret = co_await on.workspaces.set_inbound_secret(workspace, make_secret(), old);
    if (!secret)
        co_return secret.error();
    if (old == inbound_secret::rotate)
        std::cerr
            << "workspace " << to_string(workspace)
            << " has a new secret; running servers follow within 5 s, the workspace when it registers\n";
    std::cout << *secret << '\n';
    co_return result<void>();
}

}  // namespace

int run_workspace(const command& asked)
{
    if (asked.what == verb::workspace_list)
        return with_stores(asked.config, [&](command_stores on) { return list(on, asked.own.json); });
    if (asked.what == verb::workspace_remove)
        return with_stores(asked.config,
                           [&](command_stores on) { return remove(on, *parse_uuid(asked.arguments[0])); });
    if (asked.what == verb::workspace_secret) {
        const auto old = asked.own.rotate ? inbound_secret::rotate : inbound_secret::keep;
        return with_stores(asked.config, [&](command_stores on) {
            return show_secret(on, *parse_uuid(asked.arguments[0]), old);
        });
    }
    if (const auto wrong = check_flags(asked.own)) {
        std::cerr << *wrong << '\n';
        return usage_error::exit_code;
    }
    return with_stores(asked.config, [&](command_stores on) { return add(on, asked); });
}

}  // namespace restante
