#include "core/worker_pool.hpp"

namespace restante {

worker_pool& shared_workers()
{
    static worker_pool pool(2);
    return pool;
}

}  // namespace restante
