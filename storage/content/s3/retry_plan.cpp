#include "storage/content/s3/retry_plan.hpp"

#include <random>

namespace restante::s3 {

double random_share()
{
    static thread_local std::minstd_rand source(std::random_device{}());
    return std::uniform_real_distribution<double>(0, 1)(source);
}

}  // namespace restante::s3
