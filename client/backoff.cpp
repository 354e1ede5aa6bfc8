#include "client/backoff.hpp"

#include "core/decimal.hpp"

#include <algorithm>
#include <random>

namespace restante::client {

double random_share()
{
    static thread_local std::minstd_rand source(std::random_device{}());
    return std::uniform_real_distribution<double>(0, 1)(source);
}

std::chrono::milliseconds backoff::next(std::optional<milliseconds> retry_after)
{
    const auto half = step_ / 2;
    const milliseconds jitter(static_cast<std::int64_t>(random_() * static_cast<double>(half.count())));
    step_ = std::min(step_ * 2, longest);
    const auto asked = std::min(retry_after.value_or(milliseconds(0)), longest_asked);
    return std::max(half + jitter, asked + (retry_after ? jitter : milliseconds(0)));
}

std::string trying_again(std::chrono::milliseconds after)
{
    return "Trying again in " + std::to_string((after.count() + 999) / 1000) + " s.";
}

std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view text)
{
    const auto seconds = parse_capped(text, 86'400);
    if (!seconds)
        return std::nullopt;
    return std::chrono::milliseconds(*seconds * 1000);
}

}  // namespace restante::client
