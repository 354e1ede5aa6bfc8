#include "sweeper/retention.hpp"

#include <algorithm>

namespace restante {

using std::chrono::microseconds;

microseconds pause_before_next(microseconds interval, double chance)
{
    const double jittered =
        static_cast<double>(interval.count()) * (0.9 + 0.2 * std::clamp(chance, 0.0, 1.0));
    // However short the interval, the loop must not spin.
    return std::max(microseconds(static_cast<std::int64_t>(jittered)), microseconds(50'000));
}

}  // namespace restante
