#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace restante::client {

// A number from 0 to 1, without 1.
double random_share();

// How long to wait before the next try: doubled each time, with jitter, so that the clients of a server that
// comes back do not all ask in the same moment; never less than the server asked for.
class backoff {
public:
    using milliseconds = std::chrono::milliseconds;
    static constexpr milliseconds first{250};
    static constexpr milliseconds longest{30'000};
    // What a server may ask for; a longer Retry-After is taken for a mistake.
    static constexpr milliseconds longest_asked{600'000};

    explicit backoff(std::function<double()> random = random_share) : random_(std::move(random)) {}

    milliseconds next(std::optional<milliseconds> retry_after = std::nullopt);
    // After a success, or as much of one as bytes that have arrived.
    void reset() { step_ = first; }

private:
    std::function<double()> random_;
    milliseconds step_ = first;
};

// What is said about a pause: "Trying again in 3 s."
std::string trying_again(std::chrono::milliseconds after);

// The value of Retry-After in seconds; its other form, a date, is ignored.
std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view text);

}  // namespace restante::client
