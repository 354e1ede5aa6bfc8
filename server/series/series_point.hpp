#pragma once

#include "core/clock.hpp"
#include "core/metrics.hpp"
#include "storage/figures.hpp"

#include <array>
#include <string_view>
#include <vector>

namespace restante {

// What a point tells, in the order in which it is stored: only ever added to at the end.
enum class figure : std::size_t {
    requests,
    errors,  // 5xx
    uploads,
    files,  // staged
    bytes,
    acks,
    events,
    websockets,  // here and below: how it is at the end of the ten seconds
    parked_polls,
    waiting_files,  // of the whole database
    waiting_bytes,
};
inline constexpr std::size_t figure_count = 11;
inline constexpr std::array<std::string_view, figure_count> figure_names{
    "requests", "errors",     "uploads",      "files",         "bytes",        "acks",
    "events",   "websockets", "parked_polls", "waiting_files", "waiting_bytes"};

inline constexpr std::chrono::seconds series_step{10};

// Ten seconds of one server, or of several added up.
struct series_point {
    timestamp slot{};
    std::int64_t servers = 0;  // 0: nothing is known of these ten seconds
    std::array<std::int64_t, figure_count> figures{};
    std::vector<std::int64_t> buckets;  // requests by how long they took

    std::int64_t& operator[](figure which) { return figures[static_cast<std::size_t>(which)]; }
    std::int64_t operator[](figure which) const { return figures[static_cast<std::size_t>(which)]; }

    // Adds another server's point of the same slot. What describes the whole database is not added up.
    void add(const series_point& other);

    // The time within which this share of the requests was answered, in seconds: within its bucket all are
    // taken to be spread evenly. Negative without requests.
    double quantile(double share) const;
};

// The start of the ten seconds that this moment is in.
timestamp slot_of(timestamp when);

// The figures of a process since it started, as a point. Requests that wait on purpose are left out of the
// times.
series_point read_figures(const metric_set& metrics);

// What happened between two of these.
series_point difference(const series_point& before, const series_point& after);

// As it is stored. A row of another version may have more or fewer figures.
figures_row to_row(const series_point& point);
series_point to_point(const figures_row& row);

}  // namespace restante
