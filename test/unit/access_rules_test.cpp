// Which token opens which route: every scope on every route of the real table.
#include "server/api/common/access_rules.hpp"

#include "server/api/route_table.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

namespace restante {
namespace {

using verb = boost::beast::http::verb;
using enum token_scope;

constexpr token_scope scopes[] = {full, upload, read, grant};
const uuid own = make_uuid_v4();
const uuid other = make_uuid_v4();

principal holder_of(token_scope scope)
{
    return {.kind = principal_kind::workspace, .scope = scope, .workspace = {.id = own}};
}

std::string name_of(const route& which)
{
    return std::string(to_string(which.verb)) + ' ' + std::string(which.pattern.text());
}

// Its own; that of a profile or a peer may be another's, which the handler decides.
bool names_a_workspace(const route& which)
{
    return which.pattern.text().find("{id}") != std::string_view::npos && which.who != scope::profile &&
           which.who != scope::peer;
}

using matrix = std::map<std::string, std::string>;  // route → the scopes that open it

matrix decided()
{
    matrix all;
    for (const auto& each : public_routes(nullptr)) {
        if (each.who == scope::open)
            continue;
        auto& opened_by = all[name_of(each)];
        for (const auto scope : scopes)
            if (decide_access(each.who, holder_of(scope), own) == access::granted)
                opened_by += std::string(to_string(scope)) + ' ';
    }
    return all;
}

// Rows of the form | `GET /path` | yes | | yes | |, between the marks.
matrix documented()
{
    std::ifstream file("docs/api.md");
    std::stringstream text;
    text << file.rdbuf();
    std::string line;
    bool inside = false;
    matrix all;
    while (std::getline(text, line)) {
        if (line.starts_with("<!--"))
            inside = line == "<!-- scopes -->";
        if (!inside || !line.starts_with("| `"))
            continue;
        std::istringstream cells(line.substr(1));
        std::string cell;
        std::getline(cells, cell, '|');
        auto& opened_by = all[cell.substr(2, cell.size() - 4)];
        for (const auto scope : scopes) {
            std::getline(cells, cell, '|');
            if (cell == " yes ")
                opened_by += std::string(to_string(scope)) + ' ';
        }
    }
    return all;
}

TEST(access_rules, every_scope_on_every_route_is_as_documented)
{
    const auto shown = documented();
    ASSERT_GT(shown.size(), 15u);
    EXPECT_EQ(decided(), shown);
}

// What holds for routes that are yet to come, too.
TEST(access_rules, no_scope_does_more_than_its_name_says)
{
    for (const auto& each : public_routes(nullptr)) {
        if (each.who == scope::open)
            continue;
        const auto opens = [&](token_scope scope) {
            return decide_access(each.who, holder_of(scope), own) == access::granted;
        };
        EXPECT_TRUE(!opens(read) || each.verb == verb::get) << name_of(each) << " changes something";
        EXPECT_TRUE(!opens(grant) || opens(upload)) << name_of(each);
        for (const auto scope : scopes)
            EXPECT_TRUE(!opens(scope) || opens(full)) << name_of(each);
        for (const auto* secret : {"/tokens", "/upload-grants", "/content", "/activity", "/pending-uploads"})
            EXPECT_FALSE((opens(upload) || opens(grant)) && name_of(each).find(secret) != std::string::npos)
                << name_of(each);
    }
}

TEST(access_rules, another_workspaces_token_is_a_wrong_one_whatever_its_scope)
{
    for (const auto& each : public_routes(nullptr)) {
        if (each.who == scope::open || !names_a_workspace(each))
            continue;
        for (const auto scope : scopes)
            EXPECT_EQ(decide_access(each.who, holder_of(scope), other),
                      each.who == scope::message ? access::peer_not_allowed : access::wrong_token)
                << name_of(each) << ' ' << to_string(scope);
    }
}

TEST(access_rules, where_workspaces_talk_to_each_other_full_tokens_send_messages_and_nothing_else)
{
    for (const auto& each : public_routes(nullptr)) {
        if (each.who == scope::open || !names_a_workspace(each))
            continue;
        const auto decide = [&](token_scope scope) {
            return decide_access(each.who, holder_of(scope), other, peer_talk::allowed);
        };
        const bool message = each.who == scope::message;
        EXPECT_EQ(decide(full), message ? access::granted : access::wrong_token) << name_of(each);
        for (const auto scope : {upload, read, grant})
            EXPECT_EQ(decide(scope), message ? access::insufficient_scope : access::wrong_token);
    }
}

TEST(access_rules, a_claimed_workspace_is_the_owner_of_the_token)
{
    const auto claim = [](const principal& who, const std::string& text) {
        const auto checked = check_claimed_workspace(who, text);
        return checked ? errc() : static_cast<errc>(checked.error().value());
    };
    const principal admin{.kind = principal_kind::admin};
    std::string upper = to_string(own);
    for (auto& c : upper)
        c = static_cast<char>(std::toupper(c));
    for (const auto& text : {std::string(), to_string(own), upper})
        EXPECT_EQ(claim(holder_of(full), text), errc()) << text;
    for (const auto& text : {to_string(other), std::string("canvas"), ' ' + to_string(own)})
        EXPECT_EQ(claim(holder_of(full), text), errc::invalid_token) << text;
    for (const auto* text : {"webhook:x", "system:", "test:1", "channel:telegram"}) {
        EXPECT_EQ(claim(holder_of(full), text), errc::forbidden) << text;
        EXPECT_EQ(claim(admin, text), errc::forbidden) << text;
    }
    EXPECT_EQ(claim(admin, "anything"), errc());
    EXPECT_EQ(speaking_peer(holder_of(full), other), own);
    EXPECT_EQ(speaking_peer(holder_of(full), own), std::nullopt);
    EXPECT_EQ(speaking_peer(admin, other), std::nullopt);
}

TEST(access_rules, outside_its_scope_a_token_is_told_so)
{
    for (const auto scope : {upload, read, grant}) {
        EXPECT_EQ(decide_access(scope::full, holder_of(scope), own), access::insufficient_scope);
        EXPECT_EQ(decide_access(scope::registration, holder_of(scope), uuid{}), access::insufficient_scope);
        EXPECT_EQ(decide_access(scope::heartbeat, holder_of(scope), uuid{}), access::insufficient_scope);
    }
}

TEST(access_rules, the_admin_and_dev_open_everything_and_a_workspace_no_admin_route)
{
    for (const auto kind : {principal_kind::admin, principal_kind::dev})
        for (const auto& each : public_routes(nullptr))
            EXPECT_EQ(decide_access(each.who, {.kind = kind}, other), access::granted) << name_of(each);
    for (const auto scope : scopes)
        EXPECT_EQ(decide_access(scope::admin, holder_of(scope), own), access::wrong_token);
    EXPECT_EQ(decide_access(scope::full, {}, uuid{}), access::wrong_token) << "nobody is no workspace";
}

TEST(access_rules, a_sender_learns_of_its_own_files_only)
{
    auto who = holder_of(upload);
    who.token = make_uuid_v4();
    for (const auto scope : {upload, grant}) {
        who.scope = scope;
        EXPECT_TRUE(who.may_learn_of(who.token));
        EXPECT_FALSE(who.may_learn_of(make_uuid_v4()));
        EXPECT_FALSE(who.may_learn_of(std::nullopt)) << "the feed, and files of the admin";
    }
    for (const auto scope : {full, read}) {
        who.scope = scope;
        EXPECT_TRUE(who.may_learn_of(make_uuid_v4()));
        EXPECT_TRUE(who.may_learn_of(std::nullopt));
    }
    EXPECT_TRUE((principal{.kind = principal_kind::admin, .scope = upload}.may_learn_of(std::nullopt)));
}

}  // namespace
}  // namespace restante
