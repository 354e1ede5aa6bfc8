// The whole way of a file: a workspace waits in a parked poll, somebody uploads, the workspace fetches.
#include "bench/crew.hpp"
#include "bench/setup.hpp"

namespace restante::bench {

namespace {

using clock = std::chrono::steady_clock;

constexpr unsigned wait_seconds = 50;

// Long enough for a poll to be parked when the next upload is sent, on a machine that is not idle either.
constexpr auto time_to_park = std::chrono::milliseconds(20);

struct delivery_times {
    histogram from_accepted;
    histogram from_sent;
};

class courier {
public:
    courier(executor ex, const surroundings& world, const workspace& to, std::uint64_t bytes,
            delivery_times& seen)
        : server_(world.server),
          to_(to),
          bytes_(bytes),
          upload_(upload_request(to, bytes, 1)),
          sender_(ex, server_),
          receiver_(ex, server_),
          pause_(ex),
          ex_(ex),
          seen_(seen)
    {
        server_.patience += std::chrono::seconds(wait_seconds);
    }

    awaitable<void> run(clock::time_point end)
    {
        co_await open_or_fail(sender_, server_);
        co_await open_or_fail(receiver_, server_);
        for (std::uint64_t seq = 0; clock::now() < end; ++seq) {
            crew both(ex_);
            both.add(receive(seq));
            both.add(send());
            co_await both.done();
            seen_.from_accepted.record(complete_at_ - accepted_at_);
            seen_.from_sent.record(complete_at_ - sent_at_);
        }
    }

private:
    awaitable<void> send()
    {
        pause_.expires_after(time_to_park);
        co_await pause_.async_wait(use_tuple);
        sent_at_ = clock::now();
        co_await demand(sender_, upload_);
        accepted_at_ = clock::now();
    }

    awaitable<void> receive(std::uint64_t seq)
    {
        const auto poll = poll_request(to_, seq, wait_seconds);
        const auto woken = co_await demand(receiver_, poll);
        const auto id = text_member(woken.body, "file_id");
        if (id.empty())
            throw failure("the parked poll was answered without a file: " + in_words(woken));
        const auto fetch = fetch_request(to_, id);
        const auto got = co_await demand(receiver_, fetch);
        complete_at_ = clock::now();
        if (got.length != bytes_)
            throw failure("fetched " + std::to_string(got.length) + " bytes of " + std::to_string(bytes_));
    }

    target server_;
    const workspace& to_;
    std::uint64_t bytes_;
    std::string upload_;
    client sender_;
    client receiver_;
    steady_timer pause_;
    executor ex_;
    delivery_times& seen_;
    clock::time_point sent_at_;
    clock::time_point accepted_at_;
    clock::time_point complete_at_;
};

awaitable<std::vector<measurement>> deliver(const surroundings& world, std::uint64_t bytes)
{
    const executor ex = co_await asio::this_coro::executor;
    const auto all = co_await register_workspaces(world, world.given.connections);
    delivery_times seen;
    std::vector<std::unique_ptr<courier>> couriers;
    couriers.reserve(all.size());
    for (const auto& each : all)
        couriers.push_back(std::make_unique<courier>(ex, world, each, bytes, seen));

    world.processes.forget_peak();
    world.told.tell("delivering");
    const auto before = world.processes.now();
    const auto end = before.at + std::chrono::duration_cast<clock::duration>(
                                     std::chrono::duration<double>(world.given.seconds));
    crew at_work(ex);
    for (const auto& each : couriers)
        at_work.add(each->run(end));
    co_await at_work.done();
    const auto after = world.processes.now();

    std::vector<measurement> made(2);
    made[0].work = "accepted → has " + size_in_words(bytes);
    made[0].latency = seen.from_accepted;
    made[1].work = "sent → has " + size_in_words(bytes);
    made[1].latency = seen.from_sent;
    for (auto& each : made) {
        each.connections = 2 * world.given.connections;
        each.seconds = std::chrono::duration<double>(after.at - before.at).count();
        each.charge(before, after, each.latency.count());
        each.peak_bytes = world.processes.peak();
    }
    co_return made;
}

}  // namespace

std::vector<measurement> run_deliver(const surroundings& world, const std::string& argument)
{
    asio::io_context loop(1);
    return run_to_end(loop, deliver(world, read_size(argument)));
}

}  // namespace restante::bench
