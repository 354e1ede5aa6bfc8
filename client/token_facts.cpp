#include "client/token_facts.hpp"

#include "client/answers.hpp"
#include "client/json_member.hpp"
#include "client/progress_text.hpp"
#include "client/terminal_text.hpp"
#include "core/ids.hpp"

#include <boost/json/parse.hpp>

#include <algorithm>

namespace restante::client {

namespace {

namespace json = boost::json;

std::uint64_t amount_of(const json::object& left, std::string_view name)
{
    const auto* found = left.if_contains(name);
    return found && found->is_int64()
               ? static_cast<std::uint64_t>(std::max<std::int64_t>(found->get_int64(), 0))
               : 0;
}

std::string counted(std::uint64_t number, const char* what)
{
    return std::to_string(number) + ' ' + what + (number == 1 ? "" : "s");
}

std::string left_of(const json::object& body)
{
    const auto* grant = body.if_contains("grant");
    const auto* left = grant && grant->is_object() ? grant->get_object().if_contains("left") : nullptr;
    if (!left || !left->is_object())
        return {};
    const auto& amounts = left->get_object();
    return counted(amount_of(amounts, "requests"), "request") + ", " +
           counted(amount_of(amounts, "files"), "file") + ", " + format_bytes(amount_of(amounts, "bytes"));
}

// "workspace laptop (0191…)". The server gives one without a name its id as one.
std::string whose(const token_facts& facts)
{
    if (facts.workspace_name.empty() || facts.workspace_name == facts.workspace)
        return "workspace " + facts.workspace;
    return "workspace " + printable(facts.workspace_name, 100) + " (" + facts.workspace + ')';
}

}  // namespace

outcome<token_facts> parse_token_facts(std::string_view body)
{
    boost::system::error_code ec;
    const auto parsed = json::parse(body, ec);
    const auto* object = ec ? nullptr : parsed.if_object();
    token_facts out;
    if (object)
        out.scope = printable(text_member(*object, "scope"), 32);
    if (out.scope.empty())
        return bad_answer("The server has not said what the token is good for.");
    if (const auto id = parse_uuid(text_member(*object, "workspace_id")))
        out.workspace = to_string(*id);
    out.workspace_name = text_member(*object, "workspace_name");
    out.expires_at = printable(text_member(*object, "expires_at"), 40);
    out.left = left_of(*object);
    return out;
}

outcome<void> check_token(const token_facts& facts, const std::string& workspace)
{
    if (facts.workspace.empty() && workspace.empty())
        return failure{exit_code::usage, "usage",
                       "Which workspace? The server names none for this token: --workspace ID does."};
    if (!facts.workspace.empty() && !workspace.empty() && facts.workspace != workspace)
        return failure{exit_code::unauthorized, "wrong_workspace",
                       "This is a token of " + whose(facts) + ", not of " + workspace + '.'};
    if (facts.scope == "read")
        return failure{exit_code::unauthorized, "insufficient_scope",
                       "This token of " + whose(facts) +
                           " may only read: pull has to ack files, and send has to send them."};
    return {};
}

bool only_sends(const token_facts& facts)
{
    return facts.scope == "upload" || facts.scope == "grant";
}

std::string in_words(const token_facts& facts)
{
    const std::string until = facts.expires_at.empty() ? "" : " until " + facts.expires_at;
    if (facts.scope == "upload")
        return "This token sends files to " + whose(facts) + until + "; it cannot pull.";
    if (facts.scope == "grant")
        return "This is an upload grant: it sends files to " + whose(facts) + until +
               (facts.left.empty() ? "" : ", " + facts.left + " are left") +
               ". It can neither pull nor send a message.";
    if (facts.scope == "admin")
        return "This is the administrator's token: whoever reads it here opens every workspace.";
    return until.empty() ? "" : "This token is good" + until + '.';
}

}  // namespace restante::client
