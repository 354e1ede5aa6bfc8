#include "server/app/shard_set.hpp"

#include "core/wakeup.hpp"

#include <boost/asio/post.hpp>

namespace restante {

namespace {

constexpr auto scrape_patience = std::chrono::seconds(2);

// Lives on the shard that asked. The others only pass a pointer to it back and forth.
struct collection {
    collection(executor home, std::size_t shards) : missing(shards), changed(home) {}
    metric_set sum;
    std::size_t missing;
    wakeup changed;
};

// Never less than one: a shard that admits none could not even answer that it is full.
std::size_t share(std::size_t total, unsigned shards)
{
    return std::max<std::size_t>(1, total / shards);
}

}  // namespace

shard_set::shard_set(unsigned count, const shard_limits& of_the_process)
{
    shard_limits each = of_the_process;
    each.connections = share(of_the_process.connections, count);
    each.handshakes = share(of_the_process.handshakes, count);
    if (each.strangers > 0)
        each.strangers = share(of_the_process.strangers, count);
    for (unsigned i = 0; i < count; ++i)
        shards_.push_back(std::make_unique<shard>(each));
}

// A shard may hold messages from another one, so none is destroyed before all have ended.
shard_set::~shard_set()
{
    join();
}

std::vector<executor> shard_set::executors()
{
    std::vector<executor> all;
    for (auto& each : shards_)
        all.push_back(each->get_executor());
    return all;
}

void shard_set::start()
{
    for (auto& each : shards_)
        each->start();
}

void shard_set::set_tls(const tls_context& context)
{
    for (auto& each : shards_)
        asio::post(each->get_executor(), [&shard = *each, context] { shard.set_tls(context); });
}

void shard_set::stop(std::chrono::milliseconds grace)
{
    for (auto& each : shards_)
        each->stop(grace);
}

bool shard_set::join()
{
    bool in_order = true;
    for (auto& each : shards_)
        in_order = each->join() && in_order;
    return in_order;
}

awaitable<result<std::shared_ptr<const metric_set>>> shard_set::collect(executor home)
{
    const auto all = std::make_shared<collection>(home, shards_.size());
    for (auto& each : shards_) {
        asio::post(each->get_executor(), [all, home, &metrics = each->metrics()] {
            metrics.refresh();
            const auto copy = std::make_shared<metric_set>();
            copy->merge(metrics);
            asio::post(home, [all, copy] {
                all->sum.merge(*copy);
                if (--all->missing == 0)
                    all->changed.notify_all();
            });
        });
    }
    const auto end = std::chrono::steady_clock::now() + scrape_patience;
    const bool answered = co_await all->changed.wait_until(end);
    if (!answered)
        co_return RESTANTE_ERROR(errc::no_room);
    co_return std::shared_ptr<const metric_set>(all, &all->sum);
}

awaitable<result<std::string>> shard_set::scrape(executor home)
{
    const auto sum = co_await collect(home);
    if (!sum)
        co_return sum.error();
    co_return (*sum)->to_prometheus();
}

}  // namespace restante
