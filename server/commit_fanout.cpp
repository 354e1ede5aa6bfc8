#include "server/commit_fanout.hpp"

#include "core/fault_point.hpp"

#include <boost/asio/post.hpp>

namespace restante {

void commit_fanout::on_commit(std::shared_ptr<const committed_activity> row) noexcept
{
    fault_point("before_event");
    for (const auto& each : board_.readers_) {
        if (each.home == home_)
            each.listener->on_commit(row);
        else
            asio::post(each.home, [listener = each.listener, row] { listener->on_commit(row); });
    }
}

}  // namespace restante
