#include "client/answers.hpp"

#include "client/json_member.hpp"
#include "client/terminal_text.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace restante::client {

namespace {

constexpr std::size_t largest_error = 64 * 1024;

std::optional<boost::json::object> object_of(std::string_view body)
{
    boost::system::error_code ec;
    // An agent's answer may be deeper than those of the server.
    auto parsed = boost::json::parse(body, ec, {}, {.max_depth = 512});
    if (ec || !parsed.is_object())
        return std::nullopt;
    return std::move(parsed.get_object());
}

// Of an error; empty when the answer is none of Restante's.
boost::json::object error_object(std::string_view body)
{
    if (body.size() > largest_error)
        return {};
    return object_of(body).value_or(boost::json::object());
}

// "quota_exceeded: of bytes, used 900, limit 1000". A list or an object among them is for programs.
std::string in_parentheses(const failure& why)
{
    std::string out = why.code;
    for (const auto& [name, value] : why.details) {
        if (value.is_structured() || value.is_null())
            continue;
        const auto* text = value.if_string();
        out += &value == &why.details.begin()->value() ? ": " : ", ";
        out += printable(name, 64) + ' ' + printable(text ? std::string(*text) : serialize(value), 100);
    }
    return out;
}

exit_code exit_of(unsigned status)
{
    if (status == 401 || status == 403)
        return exit_code::unauthorized;
    if (status == 413 || status == 507)
        return exit_code::too_large;
    // Whoever cannot do it at all is not asked again.
    if (status == 501 || status == 505)
        return exit_code::refused;
    return status >= 500 ? exit_code::gave_up : exit_code::refused;
}

// A permanent redirect is a wrong --server. A temporary one may be a hotel's network, which goes away.
bool is_transient(unsigned status, std::string_view code)
{
    if (status == 507 || status == 501 || status == 505)
        return false;
    return status >= 500 || status == 408 || status == 429 || status == 302 || status == 303 ||
           status == 307 || code == "idempotency_key_running";
}

std::string fallback_code(unsigned status)
{
    if (status >= 300 && status < 400)
        return "redirected";
    return "http_" + std::to_string(status);
}

}  // namespace

std::string error_code_of(std::string_view body)
{
    return printable(text_member(error_object(body), "code"), 64);
}

bool says_acked(const answer& from)
{
    const auto said = object_of(from.body);
    const auto* acked = said ? said->if_contains("acked") : nullptr;
    return from.ok() && acked && acked->is_bool() && acked->get_bool();
}

bool is_object(const answer& from)
{
    return object_of(from.body).has_value();
}

failure bad_answer(std::string text)
{
    return {exit_code::gave_up, "bad_answer", std::move(text), true};
}

failure failure_of(const answer& from, std::string_view what)
{
    auto said = error_object(from.body);
    const std::string sentence(text_member(said, "error"));
    failure out;
    out.exit = exit_of(from.status);
    out.code = printable(text_member(said, "code"), 64);
    out.transient = is_transient(from.status, out.code);
    out.retry_after = from.retry_after;
    out.status = from.status;
    out.text = std::string(what) + ": the server answered " + std::to_string(from.status);
    if (!sentence.empty())
        out.text += ", " + printable(sentence);
    if (!out.code.empty()) {
        for (auto& [name, value] : said)
            if (name != "error" && name != "code")
                out.details.emplace(name, std::move(value));
        out.text += " (" + in_parentheses(out) + ')';
    } else {
        out.code = fallback_code(from.status);
        if (from.status >= 400 && out.exit != exit_code::gave_up)
            out.text += ", as no server of Restante does: is --server right?";
    }
    if (out.code == "no_such_route")
        out.text += ". Either --server is not right, or the server is too old for this.";
    if (out.code == "missing_token")
        out.text +=
            ". Neither --token-file nor --token-command nor RESTANTE_TOKEN gives one; login stores one.";
    if (!from.location.empty())
        out.text +=
            ": it is at " + printable(from.location) + ", where no token is sent unless --server says so";
    return out;
}

}  // namespace restante::client
