#include "core/worker_pool.hpp"

namespace restante {

worker_pool& shared_workers()
{
    static worker_pool pool(2);
    return pool;
}

worker_pool& disk_workers()
{
    static worker_pool pool(8);
    return pool;
}

}  // namespace restante
