#include "bench/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace restante::bench {

// The first 2^precision values have a bucket each. After that every octave is divided into 2^precision
// buckets.
std::size_t histogram::bucket_of(std::uint64_t micros)
{
    constexpr std::uint64_t exact = std::uint64_t{1} << precision;
    if (micros < exact)
        return micros;
    const auto shift = static_cast<unsigned>(std::bit_width(micros)) - precision - 1;
    const std::size_t octave = shift + 1;
    const std::size_t part = (micros >> shift) - exact;
    return std::min((octave << precision) + part, std::tuple_size_v<decltype(buckets_)> - 1);
}

double histogram::middle_of(std::size_t bucket)
{
    constexpr std::size_t exact = std::size_t{1} << precision;
    if (bucket < exact)
        return static_cast<double>(bucket);
    const auto shift = static_cast<int>(bucket >> precision) - 1;
    const auto low = std::ldexp(static_cast<double>(exact + (bucket & (exact - 1))), shift);
    return low + std::ldexp(0.5, shift);
}

void histogram::record(duration took)
{
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
    const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(micros, 0));
    ++buckets_[bucket_of(value)];
    ++count_;
    sum_ += value;
    max_ = std::max(max_, value);
}

void histogram::add(const histogram& other)
{
    for (std::size_t i = 0; i < buckets_.size(); ++i)
        buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    sum_ += other.sum_;
    max_ = std::max(max_, other.max_);
}

double histogram::percentile(double share) const
{
    if (count_ == 0)
        return 0;
    const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
    std::uint64_t counted = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
        counted += buckets_[i];
        if (counted >= std::max<std::uint64_t>(wanted, 1))
            return std::min(middle_of(i), max());
    }
    return max();
}

double histogram::mean() const
{
    return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

}  // namespace restante::bench
