// Works that are one plan, sent round and round.
#include "bench/crew.hpp"
#include "bench/load.hpp"
#include "bench/setup.hpp"

#include <fstream>

namespace restante::bench {

namespace {

constexpr unsigned setup_connections = 8;
constexpr std::size_t files_each = 4;

struct upload_shape {
    unsigned files = 1;
    std::uint64_t bytes = 0;
};

// 10KiB or 3x10KiB.
upload_shape read_shape(const std::string& argument)
{
    const auto x = argument.find('x');
    if (x == std::string::npos)
        return {1, read_size(argument)};
    return {static_cast<unsigned>(read_count(argument.substr(0, x))), read_size(argument.substr(x + 1))};
}

std::string sized(const std::string& what, std::uint64_t bytes)
{
    return what + " of " + size_in_words(bytes);
}

// Runs what has to be there before, on a loop of its own.
plan prepare(awaitable<plan> made, asio::io_context& loop)
{
    return run_to_end(loop, std::move(made));
}

awaitable<plan> plan_upload(const surroundings& world, upload_shape shape)
{
    plan made;
    made.kinds = {sized(shape.files == 1 ? "upload" : "upload of " + std::to_string(shape.files) + " files",
                        shape.bytes)};
    const auto all = co_await register_workspaces(world, world.given.workspaces);
    for (const auto& each : all)
        made.add(upload_request(each, shape.bytes, shape.files));
    co_return made;
}

// Requests for files_each files in every workspace, in turns.
awaitable<std::vector<std::string>> staged_fetches(const surroundings& world,
                                                   const std::vector<workspace>& all, std::uint64_t bytes)
{
    std::vector<std::string> requests(all.size() * files_each);
    auto stage = [&](client& link, std::size_t index) -> awaitable<void> {
        const auto& whose = all[index % all.size()];
        const auto id = co_await stage_file(link, whose, bytes);
        requests[index] = fetch_request(whose, id);
        world.told.tell("staging files: " + std::to_string(index + 1));
    };
    const step each = std::ref(stage);
    co_await share_out(world.server, setup_connections, requests.size(), each);
    co_return requests;
}

awaitable<plan> plan_fetch(const surroundings& world, std::uint64_t bytes)
{
    plan made;
    made.kinds = {sized("fetch", bytes)};
    const auto all = co_await register_workspaces(world, world.given.workspaces);
    auto requests = co_await staged_fetches(world, all, bytes);
    for (auto& request : requests)
        made.add(std::move(request));
    co_return made;
}

// Cursors that have this many rows behind them.
awaitable<std::vector<std::string>> staged_polls(const surroundings& world, const std::vector<workspace>& all,
                                                 std::size_t rows)
{
    constexpr std::uint64_t small_file = 100;
    auto stage = [&](client& link, std::size_t index) -> awaitable<void> {
        co_await stage_file(link, all[index % all.size()], small_file);
        world.told.tell("writing rows: " + std::to_string(index + 1));
    };
    const step each = std::ref(stage);
    co_await share_out(world.server, setup_connections, all.size() * rows, each);
    std::vector<std::string> requests;
    requests.reserve(all.size());
    for (const auto& whose : all)
        requests.push_back(poll_request(whose, 0, 0));
    co_return requests;
}

// Polls of workspaces that somebody else has filled.
plan plan_from_file(const std::string& path)
{
    plan made;
    made.kinds = {"poll from cursors"};
    std::ifstream in(path);
    workspace whose;
    for (std::uint64_t seq = 0; in >> whose.id >> whose.token >> seq;)
        made.add(poll_request(whose, seq, 0));
    if (made.order.empty())
        throw failure("there is no cursor in " + path);
    return made;
}

awaitable<plan> plan_poll(const surroundings& world, std::size_t rows)
{
    plan made;
    made.kinds = {"poll, " + std::to_string(rows) + " rows"};
    const auto all = co_await register_workspaces(world, world.given.workspaces);
    auto requests = co_await staged_polls(world, all, rows);
    for (auto& request : requests)
        made.add(std::move(request));
    co_return made;
}

// Pollers and senders are different workspaces, or the polls would grow while they are measured.
awaitable<plan> plan_mixed(const surroundings& world)
{
    constexpr std::uint64_t bytes = 10 * 1024;
    constexpr std::size_t rows = 10;
    plan made;
    made.kinds = {"mixed: poll, 10 rows", sized("mixed: upload", bytes), sized("mixed: fetch", bytes)};
    const auto readers = co_await register_workspaces(world, world.given.workspaces);
    const auto writers = co_await register_workspaces(world, world.given.workspaces);
    const auto polls = co_await staged_polls(world, readers, rows);
    const auto fetches = co_await staged_fetches(world, readers, bytes);
    for (std::size_t i = 0; i < fetches.size(); ++i) {
        for (std::size_t j = 0; j < 3; ++j)
            made.add(polls[(3 * i + j) % polls.size()], 0);
        made.add(upload_request(writers[i % writers.size()], bytes, 1), 1);
        made.add(fetches[i], 2);
    }
    co_return made;
}

}  // namespace

std::vector<measurement> run_upload(const surroundings& world, const std::string& argument)
{
    asio::io_context loop(1);
    const auto made = prepare(plan_upload(world, read_shape(argument)), loop);
    return run_load(world, made);
}

std::vector<measurement> run_fetch(const surroundings& world, const std::string& argument)
{
    asio::io_context loop(1);
    const auto made = prepare(plan_fetch(world, read_size(argument)), loop);
    return run_load(world, made);
}

std::vector<measurement> run_poll(const surroundings& world, const std::string& argument)
{
    if (!world.given.cursors.empty())
        return run_load(world, plan_from_file(world.given.cursors));
    asio::io_context loop(1);
    const auto made = prepare(plan_poll(world, read_count(argument)), loop);
    return run_load(world, made);
}

std::vector<measurement> run_mixed(const surroundings& world, const std::string&)
{
    asio::io_context loop(1);
    const auto made = prepare(plan_mixed(world), loop);
    return run_load(world, made);
}

}  // namespace restante::bench
