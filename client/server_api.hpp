#pragma once

#include "client/answers.hpp"
#include "client/settings.hpp"
#include "client/token.hpp"
#include "core/wakeup.hpp"
#include "http/client/http_client.hpp"

namespace restante::client {

// The requests of one command to its server. Paths are below the URL of the server.
class server_api {
public:
    using http_verb = boost::beast::http::verb;
    using milliseconds = std::chrono::milliseconds;

    server_api(executor ex, const settings& config, tls_context tls, token_source& token);

    client_request make_request(http_verb method, const std::string& path) const;
    std::unique_ptr<client_exchange> begin(const client_limits& limits) { return client_.begin(limits); }

    // One request and its whole answer, whatever its status. The answer must begin within that time. Fails,
    // worth another try, when there is no answer.
    awaitable<outcome<answer>> get(std::string path, milliseconds within);
    awaitable<outcome<answer>> post(std::string path, std::string json, milliseconds within,
                                    std::string idempotency_key = {});

    // Which token the next request is made with.
    unsigned token_generation() const { return token_.generation(); }
    // After the token of this generation was refused: true if there is another one now. It is read again once
    // until one has worked: a command may print another token each time, and the server refuse them all. Why
    // it could not be read is added to the text of `why`, the refusal.
    awaitable<bool> refresh_token(unsigned refused, failure& why);
    void token_worked() { read_again_ = false; }

    void stop() { client_.stop(); }

private:
    awaitable<outcome<answer>> exchange(client_request what, request_source* body, milliseconds within);

    const settings& config_;
    token_source& token_;
    wakeup token_read_;
    bool reading_token_ = false;
    bool read_again_ = false;  // since one has worked
    system_resolver names_;
    http_client client_;
};

// A field of an answer; empty when there is none. Valid as long as the head is.
std::string_view field_of(const client_exchange::answer_head& head, boost::beast::http::field name);

// Of an exchange that failed while `what` was tried.
failure network_failure(const error_code& ec, std::string_view what);

// The head, and as much of the body as fits: error texts, pages of the feed.
awaitable<outcome<answer>> read_answer(client_exchange& from);

}  // namespace restante::client
