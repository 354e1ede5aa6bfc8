#include "client/answers.hpp"

#include "client/json_member.hpp"
#include "client/terminal_text.hpp"

#include <boost/json/parse.hpp>

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

std::string member_of(std::string_view body, std::string_view name)
{
    if (body.size() > largest_error)
        return {};
    const auto object = object_of(body);
    return object ? std::string(text_member(*object, name)) : std::string();
}

exit_code exit_of(unsigned status)
{
    if (status == 401 || status == 403)
        return exit_code::unauthorized;
    if (status == 413 || status == 507)
        return exit_code::too_large;
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
    return printable(member_of(body, "code"), 64);
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
    failure out;
    out.exit = exit_of(from.status);
    out.code = error_code_of(from.body);
    out.transient = is_transient(from.status, out.code);
    out.retry_after = from.retry_after;
    if (out.code.empty())
        out.code = fallback_code(from.status);
    out.text = std::string(what) + ": the server answered " + std::to_string(from.status);
    if (const auto sentence = member_of(from.body, "error"); !sentence.empty())
        out.text += ", " + printable(sentence);
    if (!from.location.empty())
        out.text +=
            ": it is at " + printable(from.location) + ", where no token is sent unless --server says so";
    return out;
}

}  // namespace restante::client
