#pragma once

#include <array>
#include <chrono>
#include <cstdint>

namespace restante::bench {

// Latencies from a microsecond to more than an hour, in buckets whose width is at most 1/64 of their value. A
// percentile is at most 1.6 % off, and recording costs one increment however long the run is.
class histogram {
public:
    using duration = std::chrono::steady_clock::duration;

    // Negative values count as 0: an answer can arrive before the one that it is measured from.
    void record(duration took);
    void add(const histogram& other);

    std::uint64_t count() const { return count_; }

    // In microseconds; 0 if nothing was recorded. A share of 0.99 is p99.
    double percentile(double share) const;
    double mean() const;
    double max() const { return static_cast<double>(max_); }

private:
    static constexpr unsigned precision = 6;  // bits below the highest one that select a bucket
    static constexpr unsigned octaves = 27;

    static std::size_t bucket_of(std::uint64_t micros);
    static double middle_of(std::size_t bucket);

    std::array<std::uint64_t, (octaves + 1) << precision> buckets_{};
    std::uint64_t count_ = 0;
    std::uint64_t sum_ = 0;
    std::uint64_t max_ = 0;
};

}  // namespace restante::bench
