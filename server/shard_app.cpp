#include "server/shard_app.hpp"

#include "server/route_table.hpp"

namespace restante {

shard_app::shard_app(const settings& config, shard& home, shard_set& all)
    : services_{.ex = home.get_executor(),
                .config = config,
                .counts = home.counts(),
                .requests = home.requests(),
                .background = home.background(),
                .ready = readiness_,
                .access = nullptr,
                .scrape = [&all, ex = home.get_executor()] { return all.scrape(ex); }},
      cors_(config.allowed_origins),
      public_requests_(home.counts(), public_routes()),
      metrics_requests_(home.counts(), metrics_routes()),
      public_{public_routes(), services_, cors_, public_requests_},
      metrics_{metrics_routes(), services_, cors_, metrics_requests_}
{
}

}  // namespace restante
