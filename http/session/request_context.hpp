#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"
#include "core/ids.hpp"
#include "core/log.hpp"
#include "core/trace.hpp"
#include "http/message/public_errors.hpp"
#include "http/message/request_gate.hpp"
#include "http/message/request_id.hpp"
#include "http/message/request_target.hpp"
#include "http/message/response.hpp"
#include "http/routing/routes.hpp"
#include "http/session/access_policy.hpp"
#include "http/session/body_reader.hpp"

#include <boost/json/fwd.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace restante {

// A request as its handler sees it. It lives until the answer has been sent.
class request_context {
public:
    request_context(connection& conn, request_header head, body_reader& body, memory_budget* memory);

    http::verb method() const { return head_.method(); }
    const request_header& head() const { return head_; }
    // The field's value as it was in the head; empty when absent. Trailers never appear here.
    std::string_view header(http::field name) const;
    std::string_view header(std::string_view name) const;

    std::string_view path() const { return target_.path; }
    const query_params& query() const { return target_.query; }
    const uuid& workspace_id() const { return match_.workspace; }
    const uuid& file_id() const { return match_.file; }
    const uuid& token_id() const { return match_.token; }

    scope wanted() const { return match_.target->who; }
    // Whether a body is here and will be read as JSON.
    bool takes_json() const { return match_.target->body == body_mode::buffered && !body_.at_end(); }
    bool encrypted() const { return conn_.stream.encrypted(); }

    std::string_view id() const { return id_.view(); }
    // For requests that are made on behalf of this one.
    const trace_context& trace() const { return trace_; }
    log_origin origin() const { return {id(), trace_.id()}; }
    const asio::ip::address& remote() const { return conn_.remote(); }
    std::string_view remote_text() const { return conn_.remote_text(); }
    // The caller as the access policy identified it; empty on an open route.
    const request_caller& caller() const { return caller_; }

    // The body, as it comes in, or as one JSON value: at most 32 deep and the route's cap long, UTF-8 without
    // a byte order mark, no key twice in an object. Its text is charged until the answer has been sent.
    // Errors of json_body: malformed_json, no_room, and those of body_reader.
    body_reader& body() { return body_; }
    awaitable<result<std::string>> text_body();
    awaitable<result<boost::json::value>> json_body();
    // The text that text_body() gave is not held any more.
    void release_text() { text_charge_.release(); }

    // Memory that is held for this request, on the account of the workspace in its path; without one, on that
    // of its caller. Strangers share one.
    memory_charge charge(memory_use what) const
    {
        const bool named = match_.workspace != uuid{};
        return {memory_, what, named ? match_.workspace : caller_.account()};
    }

    response json(http::status status, const boost::json::value& value) const;
    response json(http::status status, std::string text) const;
    // 200 with what was read and may be large: charged while it is sent, and 503 when there is no room for
    // it. Not for what has changed something, which a 503 would deny.
    response list(std::string text) const;
    response fail(const refusal& why) const;
    response fail(errc why) const { return fail(refusal(why)); }
    response fail(const error_code& why) const { return fail(refusal(why)); }

    // Calls back, at most once, when the client disconnects while the handler waits for something else. The
    // callback must not outlive the handler's frame: forget_client() ends it.
    void on_client_gone(std::function<void()> callback) { conn_.watch_for_end(std::move(callback)); }
    // The same before the body is read, which it leaves alone.
    void on_client_gone_early(std::function<void()> callback)
    {
        conn_.watch_for_end_behind_input(std::move(callback));
    }
    void forget_client() { conn_.unwatch(); }

private:
    friend class http_exchange;

    bool make_room(std::string& text, std::size_t more);
    memory_use body_use() const { return caller_.proven() ? memory_use::body : memory_use::stranger; }

    connection& conn_;
    request_header head_;
    request_id id_;
    trace_context trace_;
    request_target target_;
    route_match match_;
    request_caller caller_;
    body_reader& body_;
    memory_budget* memory_;
    memory_charge text_charge_;
};

}  // namespace restante
