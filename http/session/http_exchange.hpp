#pragma once

#include "http/session/body_reader.hpp"
#include "http/session/http_session.hpp"
#include "http/session/request_context.hpp"

namespace restante {

// One request and its answer, from the parsed head to the last byte sent.
class http_exchange {
public:
    // Takes the head out of the parser before the body is read, so that trailers, which Beast adds to its own
    // fields, decide nothing.
    http_exchange(connection& conn, const session_environment& env, const gate_verdict& verdict,
                  request_parser& parser);

    // True when the connection can take the next request.
    awaitable<bool> run();

private:
    awaitable<response> answer();
    awaitable<response> route_and_handle();
    awaitable<result<void>> confirm_caller();
    bool is_preflight() const;
    response refuse_route(errc why) const;
    response answer_options(const method_set& allowed) const;
    awaitable<void> close_gently();
    void report(const response& answer);
    void log_failure(const char* what) const;

    connection& conn_;
    const session_environment& env_;
    const gate_verdict& verdict_;
    body_reader body_;
    request_context request_;
    std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace restante
