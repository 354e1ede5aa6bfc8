#include "server/app/descriptors.hpp"

#include <algorithm>
#include <sys/resource.h>

namespace restante {

namespace {

constexpr std::size_t reserved = 64;

}  // namespace

std::size_t raise_descriptor_limit()
{
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 1024;
    const auto before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return before;
    return limit.rlim_cur;
}

std::size_t connection_limit(const settings& config, std::size_t descriptors)
{
    const std::size_t others = reserved + config.db_connections;
    const std::size_t free = descriptors > others ? descriptors - others : 0;
    // A quarter stays free for spool files: an upload above 1 MiB holds one beside its connection.
    const std::size_t affordable = std::max<std::size_t>(free / 4 * 3, 1);
    return std::min<std::size_t>(config.max_connections, affordable);
}

}  // namespace restante
