// The complete delivery of a file: a workspace waits in a parked poll, a file is uploaded, the workspace
// fetches it.
#include "bench/setup.hpp"
#include "bench/wait_group.hpp"

namespace restante::bench {

namespace {

using clock = std::chrono::steady_clock;

constexpr unsigned wait_seconds = 50;

// Long enough for the poll to be parked before the upload is sent, even on a busy machine.
constexpr auto time_to_park = std::chrono::milliseconds(20);

struct delivery_times {
    histogram from_accepted;
    histogram from_sent;
};

class delivery_loop {
public:
    delivery_loop(executor ex, const scenario_context& context, const workspace& to, std::uint64_t bytes,
                  delivery_times& times)
        : server_(context.server),
          to_(to),
          bytes_(bytes),
          upload_(upload_request(to, bytes, 1)),
          sender_(ex, server_),
          receiver_(ex, server_),
          pause_(ex),
          ex_(ex),
          times_(times)
    {
        server_.timeout += std::chrono::seconds(wait_seconds);
    }

    awaitable<void> run(clock::time_point end)
    {
        co_await open_or_fail(sender_, server_);
        co_await open_or_fail(receiver_, server_);
        for (std::uint64_t seq = 0; clock::now() < end; ++seq) {
            wait_group both(ex_);
            both.add(receive(seq));
            both.add(send());
            co_await both.wait();
            times_.from_accepted.record(complete_at_ - accepted_at_);
            times_.from_sent.record(complete_at_ - sent_at_);
        }
    }

private:
    awaitable<void> send()
    {
        pause_.expires_after(time_to_park);
        co_await pause_.async_wait(use_tuple);
        sent_at_ = clock::now();
        co_await exchange_or_fail(sender_, upload_);
        accepted_at_ = clock::now();
    }

    awaitable<void> receive(std::uint64_t seq)
    {
        const auto poll = poll_request(to_, seq, wait_seconds);
        const auto woken = co_await exchange_or_fail(receiver_, poll);
        const auto id = text_member(woken.body, "file_id");
        if (id.empty())
            throw failure("the parked poll was answered without a file: " + describe(woken));
        const auto fetch = fetch_request(to_, id);
        const auto got = co_await exchange_or_fail(receiver_, fetch);
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
    delivery_times& times_;
    clock::time_point sent_at_;
    clock::time_point accepted_at_;
    clock::time_point complete_at_;
};

awaitable<std::vector<measurement>> deliver(const scenario_context& context, std::uint64_t bytes)
{
    const executor ex = co_await asio::this_coro::executor;
    const auto all = co_await register_workspaces(context, context.opts.connections);
    delivery_times times;
    std::vector<std::unique_ptr<delivery_loop>> loops;
    loops.reserve(all.size());
    for (const auto& each : all)
        loops.push_back(std::make_unique<delivery_loop>(ex, context, each, bytes, times));

    context.processes.reset_peak();
    context.progress.show("delivering");
    const auto before = context.processes.now();
    const auto end = before.at + std::chrono::duration_cast<clock::duration>(
                                     std::chrono::duration<double>(context.opts.seconds));
    wait_group tasks(ex);
    for (const auto& each : loops)
        tasks.add(each->run(end));
    co_await tasks.wait();
    const auto after = context.processes.now();

    std::vector<measurement> made(2);
    made[0].work = "accepted → has " + describe_size(bytes);
    made[0].latency = times.from_accepted;
    made[1].work = "sent → has " + describe_size(bytes);
    made[1].latency = times.from_sent;
    for (auto& each : made) {
        each.connections = 2 * context.opts.connections;
        each.seconds = std::chrono::duration<double>(after.at - before.at).count();
        each.set_cpu(before, after, each.latency.count());
        each.peak_bytes = context.processes.peak();
    }
    co_return made;
}

}  // namespace

std::vector<measurement> run_deliver(const scenario_context& context, const std::string& argument)
{
    asio::io_context loop(1);
    return run_to_end(loop, deliver(context, read_size(argument)));
}

}  // namespace restante::bench
