#include "bench/load.hpp"

#include "bench/setup.hpp"
#include "bench/wait_group.hpp"

#include <atomic>
#include <future>

namespace restante::bench {

namespace {

using clock = std::chrono::steady_clock;

clock::duration in_seconds(double seconds)
{
    return std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
}

// The time that is measured, the same for every thread.
struct time_window {
    clock::time_point begin;
    clock::time_point end;
};

struct kind_result {
    histogram latency;
    std::uint64_t errors = 0;
    std::string first_error;
};

using thread_result = std::vector<kind_result>;

// Progress that the main thread reads while the load threads run.
struct counters {
    std::atomic<std::uint64_t> measured{0};
    std::atomic<std::uint64_t> errors{0};
};

class load_thread {
public:
    load_thread(const target& server, const plan& what, time_window window, std::size_t first,
                counters& totals)
        : server_(server),
          plan_(what),
          window_(window),
          next_(first),
          totals_(totals),
          results_(what.kinds.size())
    {
    }

    thread_result run(unsigned connections)
    {
        asio::io_context loop(1);
        return run_to_end(loop, work(loop.get_executor(), connections));
    }

private:
    awaitable<thread_result> work(executor ex, unsigned connections)
    {
        wait_group all(ex);
        for (unsigned i = 0; i < connections; ++i)
            all.add(run_connection(ex));
        co_await all.wait();
        co_return std::move(results_);
    }

    awaitable<void> run_connection(executor ex)
    {
        client link(ex, server_);
        co_await open_or_fail(link, server_);
        for (auto began = clock::now(); began < window_.end;) {
            const auto entry = plan_.order[next_++ % plan_.order.size()];
            const auto got = co_await link.exchange(plan_.requests[entry.request]);
            const auto answered = clock::now();
            const bool measured = answered >= window_.begin && answered < window_.end;
            if (got && got->ok()) {
                if (measured)
                    count(results_[entry.kind], answered - began);
            } else {
                count_error(results_[entry.kind], got);
                if (!got)
                    co_await open_or_fail(link, server_);
            }
            began = clock::now();
        }
    }

    void count(kind_result& of, clock::duration took)
    {
        of.latency.record(took);
        totals_.measured.fetch_add(1, std::memory_order_relaxed);
    }

    void count_error(kind_result& of, const result<answer>& got)
    {
        constexpr std::uint64_t enough = 50;
        const auto message = got ? describe(*got) : describe(got.error());
        if (++of.errors == 1)
            of.first_error = message;
        const auto failed = totals_.errors.fetch_add(1, std::memory_order_relaxed) + 1;
        if (failed >= enough && failed > totals_.measured.load(std::memory_order_relaxed))
            throw failure("most requests fail, the last one with: " + message);
    }

    const target& server_;
    const plan& plan_;
    const time_window window_;
    std::size_t next_;
    counters& totals_;
    thread_result results_;
};

// Shows progress until the window ends or the first thread fails. Returns what the processes had used at its
// start and at its end.
std::pair<usage, usage> watch(const scenario_context& context, const plan& what, time_window window,
                              std::vector<std::future<thread_result>>& threads, const counters& totals)
{
    const auto ended_by = [&threads](clock::time_point moment) {
        return threads.front().wait_until(moment) == std::future_status::ready;
    };
    ended_by(window.begin);
    context.processes.reset_peak();
    const auto before = context.processes.now();
    for (auto now = clock::now(); now < window.end; now = clock::now()) {
        const std::chrono::duration<double> so_far = now - window.begin;
        const auto count = totals.measured.load(std::memory_order_relaxed);
        context.progress.show(what.kinds.front() + ": " + with_commas(count) + " answered in " +
                              std::to_string(static_cast<int>(so_far.count())) + " s");
        if (ended_by(std::min(window.end, now + std::chrono::milliseconds(500))))
            break;
    }
    return {before, context.processes.now()};
}

}  // namespace

void plan::add(std::string request, std::size_t kind)
{
    requests.push_back(std::move(request));
    order.push_back({requests.size() - 1, kind});
}

std::vector<measurement> run_load(const scenario_context& context, const plan& what)
{
    const auto& opts = context.opts;
    const auto begin = clock::now() + in_seconds(opts.warm_up);
    const time_window window{begin, begin + in_seconds(opts.seconds)};
    counters totals;
    std::vector<std::future<thread_result>> threads;
    for (unsigned i = 0; i < opts.threads; ++i) {
        const unsigned share =
            opts.connections / opts.threads + (i < opts.connections % opts.threads ? 1 : 0);
        const std::size_t first = i * what.order.size() / opts.threads;
        threads.push_back(std::async(std::launch::async, [&, share, first] {
            return load_thread(context.server, what, window, first, totals).run(share);
        }));
    }
    const auto [before, after] = watch(context, what, window, threads, totals);

    std::vector<measurement> made(what.kinds.size());
    std::uint64_t answered = 0;
    for (auto& thread : threads) {
        const auto results = thread.get();
        for (std::size_t kind = 0; kind < made.size(); ++kind) {
            made[kind].latency.add(results[kind].latency);
            made[kind].errors += results[kind].errors;
            if (made[kind].first_error.empty())
                made[kind].first_error = results[kind].first_error;
            answered += results[kind].latency.count();
        }
    }
    for (std::size_t kind = 0; kind < made.size(); ++kind) {
        made[kind].work = what.kinds[kind];
        made[kind].connections = opts.connections;
        made[kind].seconds = opts.seconds;
        made[kind].set_cpu(before, after, answered);
        made[kind].peak_bytes = context.processes.peak();
    }
    return made;
}

}  // namespace restante::bench
