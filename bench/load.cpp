#include "bench/load.hpp"

#include "bench/crew.hpp"
#include "bench/setup.hpp"

#include <atomic>
#include <future>

namespace restante::bench {

namespace {

using clock = std::chrono::steady_clock;

clock::duration in_seconds(double seconds)
{
    return std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
}

// When measuring begins and ends, the same for every thread.
struct span_of_time {
    clock::time_point begin;
    clock::time_point end;
};

struct kind_result {
    histogram latency;
    std::uint64_t errors = 0;
    std::string first_error;
};

using thread_result = std::vector<kind_result>;

// What the thread that watches may read while the others work.
struct counters {
    std::atomic<std::uint64_t> measured{0};
    std::atomic<std::uint64_t> errors{0};
};

class load_thread {
public:
    load_thread(const target& server, const plan& what, span_of_time when, std::size_t first, counters& seen)
        : server_(server), plan_(what), when_(when), next_(first), seen_(seen), results_(what.kinds.size())
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
        crew all(ex);
        for (unsigned i = 0; i < connections; ++i)
            all.add(keep_asking(ex));
        co_await all.done();
        co_return std::move(results_);
    }

    awaitable<void> keep_asking(executor ex)
    {
        client link(ex, server_);
        co_await open_or_fail(link, server_);
        for (auto began = clock::now(); began < when_.end;) {
            const auto entry = plan_.order[next_++ % plan_.order.size()];
            const auto got = co_await link.exchange(plan_.requests[entry.request]);
            const auto answered = clock::now();
            const bool measured = answered >= when_.begin && answered < when_.end;
            if (got && got->ok()) {
                if (measured)
                    count(results_[entry.kind], answered - began);
            } else {
                note_error(results_[entry.kind], got);
                if (!got)
                    co_await open_or_fail(link, server_);
            }
            began = clock::now();
        }
    }

    void count(kind_result& of, clock::duration took)
    {
        of.latency.record(took);
        seen_.measured.fetch_add(1, std::memory_order_relaxed);
    }

    void note_error(kind_result& of, const result<answer>& got)
    {
        constexpr std::uint64_t enough = 50;
        const auto words = got ? in_words(*got) : in_words(got.error());
        if (++of.errors == 1)
            of.first_error = words;
        const auto failed = seen_.errors.fetch_add(1, std::memory_order_relaxed) + 1;
        if (failed >= enough && failed > seen_.measured.load(std::memory_order_relaxed))
            throw failure("most requests fail, the last one with: " + words);
    }

    const target& server_;
    const plan& plan_;
    const span_of_time when_;
    std::size_t next_;
    counters& seen_;
    thread_result results_;
};

// Looks on until every thread has ended; returns what was used between begin and end.
std::pair<usage, usage> watch(const surroundings& world, const plan& what, span_of_time when,
                              std::vector<std::future<thread_result>>& threads, const counters& seen)
{
    const auto some_ended_by = [&threads](clock::time_point moment) {
        return threads.front().wait_until(moment) == std::future_status::ready;
    };
    some_ended_by(when.begin);
    world.processes.forget_peak();
    const auto before = world.processes.now();
    for (auto now = clock::now(); now < when.end; now = clock::now()) {
        const std::chrono::duration<double> so_far = now - when.begin;
        const auto count = seen.measured.load(std::memory_order_relaxed);
        world.told.tell(what.kinds.front() + ": " + with_commas(count) + " answered in " +
                        std::to_string(static_cast<int>(so_far.count())) + " s");
        if (some_ended_by(std::min(when.end, now + std::chrono::milliseconds(500))))
            break;
    }
    return {before, world.processes.now()};
}

}  // namespace

void plan::add(std::string request, std::size_t kind)
{
    requests.push_back(std::move(request));
    order.push_back({requests.size() - 1, kind});
}

std::vector<measurement> run_load(const surroundings& world, const plan& what)
{
    const auto& given = world.given;
    const auto begin = clock::now() + in_seconds(given.warm_up);
    const span_of_time when{begin, begin + in_seconds(given.seconds)};
    counters seen;
    std::vector<std::future<thread_result>> threads;
    for (unsigned i = 0; i < given.threads; ++i) {
        const unsigned share =
            given.connections / given.threads + (i < given.connections % given.threads ? 1 : 0);
        const std::size_t first = i * what.order.size() / given.threads;
        threads.push_back(std::async(std::launch::async, [&, share, first] {
            return load_thread(world.server, what, when, first, seen).run(share);
        }));
    }
    const auto [before, after] = watch(world, what, when, threads, seen);

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
        made[kind].connections = given.connections;
        made[kind].seconds = given.seconds;
        made[kind].charge(before, after, answered);
        made[kind].peak_bytes = world.processes.peak();
    }
    return made;
}

}  // namespace restante::bench
