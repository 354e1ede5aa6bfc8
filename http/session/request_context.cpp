#include "http/session/request_context.hpp"

#include "http/message/json_reader.hpp"

#include <boost/json/serialize.hpp>

namespace restante {

namespace {

constexpr std::size_t first_step = 16 * 1024;

// Of two nobody could say which is meant.
std::string_view traceparent_of(const request_header& head)
{
    const auto [first, last] = head.equal_range("traceparent");
    if (first == last || std::next(first) != last)
        return {};
    return first->value();
}

// What the route takes, where its handler does not say it in its own way.
refusal with_body_limit(refusal why, std::uint64_t cap)
{
    if (why.code == errc::request_too_large && cap > 0 && !why.fields.contains("max"))
        why.fields["max"] = cap;
    return why;
}

}  // namespace

request_context::request_context(connection& conn, request_header head, body_reader& body,
                                 memory_budget* memory)
    : conn_(conn),
      head_(std::move(head)),
      id_(header("X-Request-Id")),
      trace_(traceparent_of(head_)),
      body_(body),
      memory_(memory)
{
}

std::string_view request_context::header(http::field name) const
{
    const auto at = head_.find(name);
    if (at == head_.end())
        return {};
    return at->value();
}

std::string_view request_context::header(std::string_view name) const
{
    const auto at = head_.find(name);
    if (at == head_.end())
        return {};
    return at->value();
}

// In doubling steps, each charged before it is allocated: a client is charged for what it has sent, not for
// what it has announced.
bool request_context::make_room(std::string& text, std::size_t more)
{
    const auto needed = text.size() + more;
    if (needed <= text.capacity())
        return true;
    const auto step = std::max({needed, 2 * text.capacity(), first_step});
    const auto most = body_.announced() > 0 ? body_.announced() : body_.cap();
    const auto capacity = std::max<std::uint64_t>(needed, std::min<std::uint64_t>(step, most));
    if (!text_charge_.grow_to(capacity))
        return false;
    text.reserve(capacity);
    return true;
}

awaitable<result<std::string>> request_context::text_body()
{
    std::string text;
    text_charge_ = charge(body_use());
    if (body_.announced_too_large())
        co_return RESTANTE_ERROR(errc::request_too_large);  // room would not help it
    if (!text_charge_.could_grow_to(body_.announced()))
        co_return RESTANTE_ERROR(errc::no_room);
    for (;;) {
        const auto bytes = co_await body_.read_some();
        if (!bytes)
            co_return bytes.error();
        if (bytes->empty())
            break;
        if (!make_room(text, bytes->size()))
            co_return RESTANTE_ERROR(errc::no_room);
        text.append(bytes->data(), bytes->size());
    }
    co_return text;
}

awaitable<result<boost::json::value>> request_context::json_body()
{
    const auto text = co_await text_body();
    if (!text)
        co_return text.error();
    co_return parse_json(*text);
}

response request_context::json(http::status status, const boost::json::value& value) const
{
    return json(status, boost::json::serialize(value));
}

response request_context::json(http::status status, std::string text) const
{
    response answer;
    answer.head.result(status);
    answer.head.set(http::field::content_type, "application/json");
    answer.body = std::move(text);
    return answer;
}

response request_context::list(std::string text) const
{
    auto held = charge(memory_use::answer);
    if (!held.grow_to(text.size()))
        return fail(errc::no_room);
    auto answer = json(http::status::ok, std::move(text));
    answer.head.set(http::field::cache_control, "no-store");
    answer.held = std::move(held);
    return answer;
}

response request_context::fail(const refusal& why) const
{
    const auto& error = public_error_of(why.code);
    const auto status = static_cast<http::status>(error.status);
    auto answer = json(status, error_body(with_body_limit(why, body_.cap())));
    answer.head.set(http::field::cache_control, "no-store");
    answer.head.set("X-Trace-Id", trace_.id());
    if (error.retry_after)
        answer.head.set(http::field::retry_after, std::to_string(*error.retry_after));
    if (error.www_authenticate)
        answer.head.set(http::field::www_authenticate, "Bearer");
    return answer;
}

}  // namespace restante
