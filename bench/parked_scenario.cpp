// Thousands of parked long polls, each for its own workspace, and how long it takes to wake them.
#include "bench/many_clients.hpp"
#include "bench/setup.hpp"
#include "bench/wait_group.hpp"

namespace restante::bench {

namespace {

using clock = std::chrono::steady_clock;

constexpr unsigned uploaders = 4;
constexpr unsigned wait_seconds = 55;

// Each poll queries the database once before it is parked. In practice workspaces do not arrive by the
// thousand at once.
constexpr std::size_t group_size = 250;
constexpr std::uint64_t file_bytes = 10 * 1024;

class parked_run {
public:
    parked_run(const scenario_context& context, std::size_t count)
        : context_(context), server_(context.server), uploaded_at_(count), woken_at_(count), count_(count)
    {
        server_.timeout = std::chrono::seconds(wait_seconds + 15);
    }

    awaitable<measurement> run()
    {
        const executor ex = co_await asio::this_coro::executor;
        workspaces_ = co_await register_workspaces(context_, count_);
        context_.processes.reset_peak();
        const auto empty = context_.processes.resident();
        histogram opening;
        clients_ = co_await open_many(context_, server_, count_, opening);

        wait_group waiting(ex);
        for (std::size_t sent = 0; sent < count_;) {
            const auto group_end = std::min(count_, sent + group_size);
            while (sent < group_end)
                waiting.add(park(sent++));
            co_await until_parked(sent, waiting);
        }
        const auto full = context_.processes.resident();

        const auto before = context_.processes.now();
        auto wake = [this](client& link, std::size_t index) -> awaitable<void> {
            return upload(link, index);
        };
        const step each = std::ref(wake);
        co_await distribute(context_.server, uploaders, count_, each);
        co_await waiting.wait();
        auto made = make_measurement(before, context_.processes.now());
        if (empty && full)
            made.facts.emplace_back("server memory for each parked poll, KiB",
                                    (*full - *empty) / 1024 / static_cast<double>(count_));
        co_return made;
    }

private:
    // Polls from number 0 of a feed that is empty until the upload.
    awaitable<void> park(std::size_t index)
    {
        const auto request = poll_request(workspaces_[index], 0, wait_seconds);
        const auto got = co_await exchange_or_fail(*clients_[index], request);
        if (text_member(got.body, "file_id").empty())
            throw failure("a poll waited " + std::to_string(wait_seconds) + " s and was not woken");
        woken_at_[index] = clock::now();
        ++woken_;
    }

    awaitable<void> until_parked(std::size_t wanted, const wait_group& waiting)
    {
        const executor ex = co_await asio::this_coro::executor;
        steady_timer pause(ex);
        const auto give_up_at = clock::now() + std::chrono::seconds(10);
        for (;;) {
            const auto parked =
                static_cast<std::size_t>(co_await read_gauge(context_, "molecule_parked_polls"));
            if (parked >= wanted)
                co_return;
            waiting.rethrow_failure();
            context_.progress.show("parking: " + with_commas(parked) + " of " + with_commas(count_));
            if (clock::now() > give_up_at)
                throw failure("only " + with_commas(parked) + " of " + with_commas(wanted) +
                              " polls were parked in time");
            pause.expires_after(std::chrono::milliseconds(10));
            co_await pause.async_wait(use_tuple);
        }
    }

    awaitable<void> upload(client& link, std::size_t index)
    {
        const auto request = upload_request(workspaces_[index], file_bytes, 1);
        co_await exchange_or_fail(link, request);
        uploaded_at_[index] = clock::now();
        context_.progress.show("waking: " + with_commas(woken_) + " of " + with_commas(count_));
    }

    measurement make_measurement(const usage& before, const usage& after) const
    {
        measurement made;
        made.work = with_commas(count_) + " parked polls, woken" + (context_.server.tls ? ", TLS" : "");
        made.connections = static_cast<unsigned>(count_);
        made.seconds = std::chrono::duration<double>(after.at - before.at).count();
        for (std::size_t i = 0; i < count_; ++i)
            made.latency.record(woken_at_[i] - uploaded_at_[i]);
        made.set_cpu(before, after, count_);
        made.peak_bytes = context_.processes.peak();
        return made;
    }

    const scenario_context& context_;
    target server_;
    std::vector<workspace> workspaces_;
    client_list clients_;
    std::vector<clock::time_point> uploaded_at_;
    std::vector<clock::time_point> woken_at_;
    std::size_t count_;
    std::size_t woken_ = 0;
};

}  // namespace

std::vector<measurement> run_parked(const scenario_context& context, const std::string& argument)
{
    asio::io_context loop(1);
    parked_run parked(context, read_count(argument));  // holds sockets, so the loop must outlive it
    return {run_to_end(loop, parked.run())};
}

}  // namespace restante::bench
