#pragma once

#include "core/error.hpp"
#include "core/metrics.hpp"

#include <array>
#include <string_view>

namespace restante {

enum class forward_kind { upload, message, download };

enum class forward_outcome {
    answered,     // whatever the workspace said
    refused,      // the client's own doing: too large, too slow, broken
    not_allowed,  // the callback URL points where we must not connect
    unreachable,  // no name, no connection, no TLS
    broken,       // cut off, or not HTTP
    late,
    client_gone,
};

std::string_view to_string(forward_kind kind) noexcept;
std::string_view to_string(forward_outcome outcome) noexcept;

// How a forward ended that brought no answer: an error of the client, or of reading the caller's body.
forward_outcome outcome_of(const error_code& ec) noexcept;

// Forwards of one shard.
class push_metrics {
public:
    explicit push_metrics(metric_set& metrics);

    void count(forward_kind kind, forward_outcome outcome, double seconds);
    void count_bytes(std::uint64_t to_workspace, std::uint64_t from_workspace);

private:
    static constexpr std::size_t kinds = 3;
    static constexpr std::size_t outcomes = 7;
    std::array<std::array<metric_set::number*, outcomes>, kinds> forwards_{};
    std::array<metric_set::histogram*, kinds> seconds_{};
    metric_set::number& sent_;
    metric_set::number& received_;
};

}  // namespace restante
