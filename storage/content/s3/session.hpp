#pragma once

#include "http/client/http_client.hpp"
#include "storage/content/s3/credentials.hpp"
#include "storage/content/s3/health.hpp"
#include "storage/content/s3/request.hpp"

#include <functional>
#include <memory>
#include <string>

namespace restante::s3 {

class retry_plan;

// How long one attempt may take. One that sends many bytes gets more, by the slowest rate that is worth
// waiting for; besides, both directions must keep moving (http/net/progress.hpp), which is all that is asked
// of an object that is read: its reader may be slow. With retry_plan's 4 s, a store that does not answer is
// reported within the 10 s in which clients are owed an answer.
struct attempt_limits {
    std::chrono::milliseconds head =
        std::chrono::seconds(5);  // from the last byte sent to the answer's first
    std::chrono::milliseconds whole = std::chrono::seconds(45);
    static constexpr std::uint64_t slowest_rate = 256 * 1024;  // bytes a second
};

// What a call asks of the store, beyond a look-up.
struct effort {
    std::uint64_t bytes = 0;
    std::chrono::milliseconds work = {};  // before it can answer
};

// Sends calls to one bucket, for one shard. Calls are signed with the keys of the moment and repeated as the
// answers allow. A handle: copies share what they refer to.
class session {
public:
    session(http_client& client, const bucket_place& place, const credentials& keys, health& state,
            attempt_limits limits = {});

    // The same, for calls that are made on behalf of a request: they carry its `traceparent`.
    session for_request(std::optional<trace_context> trace) const
    {
        auto same = *this;
        same.trace_ = std::move(trace);
        return same;
    }

    const bucket_place& place() const { return *place_; }
    health& state() const { return *state_; }

    // One attempt. When the answer begins with 2xx, its body is for the caller to read.
    struct answered {
        judgement said;
        std::unique_ptr<client_exchange> exchange = {};  // only with verdict::done
    };
    awaitable<answered> send(call what, request_source* body, effort takes = {});

    // One attempt whose answer is a small document.
    struct told {
        judgement said;
        std::string document = {};
        std::string etag = {};
    };
    awaitable<told> ask(call what, request_source* body, effort takes = {});

    using attempt = std::function<awaitable<judgement>()>;
    // Makes attempts until one is neither try_again nor too many. Errors: content_lost when the object is
    // missing, io_error when our own copy cannot be read, content_store_unavailable for the rest; also at
    // once, without an attempt, while the store is known to be away.
    awaitable<error_code> repeat(access how, attempt make);

    // After an attempt of the caller's own: notes it, and pauses if there is to be another one. An error ends
    // the operation.
    awaitable<error_code> settle(access how, const judgement& said, retry_plan& plan);

    // Waits for the time of the next attempt; an error when there is to be none.
    awaitable<error_code> pause(const judgement& said, retry_plan& plan);

private:
    void report(std::string_view event, const judgement& said) const;

    http_client* client_;
    const bucket_place* place_;
    const credentials* keys_;
    health* state_;
    attempt_limits limits_;
    std::optional<trace_context> trace_;
};

}  // namespace restante::s3
