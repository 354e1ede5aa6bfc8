// Workloads that send the requests of one plan over and over.
#include "bench/load.hpp"
#include "bench/setup.hpp"
#include "bench/wait_group.hpp"

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
    return what + " of " + describe_size(bytes);
}

// Prepares the plan on its own event loop, then measures it.
std::vector<measurement> run_plan(const scenario_context& context, awaitable<plan> prepared)
{
    asio::io_context loop(1);
    const auto made = run_to_end(loop, std::move(prepared));
    return run_load(context, made);
}

// Workspaces that exist already, with positions in their feeds.
std::vector<std::pair<workspace, std::uint64_t>> read_cursors(const std::string& path)
{
    std::vector<std::pair<workspace, std::uint64_t>> all;
    std::ifstream in(path);
    workspace whose;
    for (std::uint64_t seq = 0; in >> whose.id >> whose.token >> seq;)
        all.emplace_back(whose, seq);
    if (all.empty())
        throw failure("there is no cursor in " + path);
    return all;
}

// The workspaces of --cursors, or new ones.
awaitable<std::vector<workspace>> find_workspaces(const scenario_context& context)
{
    if (context.opts.cursors.empty())
        co_return co_await register_workspaces(context, context.opts.workspaces);
    std::vector<workspace> all;
    for (auto& [whose, seq] : read_cursors(context.opts.cursors))
        all.push_back(std::move(whose));
    co_return all;
}

awaitable<plan> plan_upload(const scenario_context& context, upload_shape shape)
{
    plan made;
    made.kinds = {sized(shape.files == 1 ? "upload" : "upload of " + std::to_string(shape.files) + " files",
                        shape.bytes)};
    const auto all = co_await find_workspaces(context);
    for (const auto& each : all)
        made.add(upload_request(each, shape.bytes, shape.files));
    co_return made;
}

// Stages files_each files per workspace. Returns the requests that fetch them, alternating between
// workspaces.
awaitable<std::vector<std::string>> staged_fetches(const scenario_context& context,
                                                   const std::vector<workspace>& all, std::uint64_t bytes)
{
    std::vector<std::string> requests(all.size() * files_each);
    auto stage = [&](client& link, std::size_t index) -> awaitable<void> {
        const auto& whose = all[index % all.size()];
        const auto id = co_await stage_file(link, whose, bytes);
        requests[index] = fetch_request(whose, id);
        context.progress.show("staging files: " + std::to_string(index + 1));
    };
    const step each = std::ref(stage);
    co_await distribute(context.server, setup_connections, requests.size(), each);
    co_return requests;
}

awaitable<plan> plan_fetch(const scenario_context& context, std::uint64_t bytes)
{
    plan made;
    made.kinds = {sized("fetch", bytes)};
    const auto all = co_await register_workspaces(context, context.opts.workspaces);
    auto requests = co_await staged_fetches(context, all, bytes);
    for (auto& request : requests)
        made.add(std::move(request));
    co_return made;
}

// Writes this many feed rows per workspace. Returns the polls that read all of them.
awaitable<std::vector<std::string>> staged_polls(const scenario_context& context,
                                                 const std::vector<workspace>& all, std::size_t rows)
{
    constexpr std::uint64_t small_file = 100;
    auto stage = [&](client& link, std::size_t index) -> awaitable<void> {
        co_await stage_file(link, all[index % all.size()], small_file);
        context.progress.show("writing rows: " + std::to_string(index + 1));
    };
    const step each = std::ref(stage);
    co_await distribute(context.server, setup_connections, all.size() * rows, each);
    std::vector<std::string> requests;
    requests.reserve(all.size());
    for (const auto& whose : all)
        requests.push_back(poll_request(whose, 0, 0));
    co_return requests;
}

// Polls of workspaces that already have a feed.
plan plan_from_file(const std::string& path)
{
    plan made;
    made.kinds = {"poll from cursors"};
    for (const auto& [whose, seq] : read_cursors(path))
        made.add(poll_request(whose, seq, 0));
    return made;
}

awaitable<plan> plan_poll(const scenario_context& context, std::size_t rows)
{
    plan made;
    made.kinds = {"poll, " + std::to_string(rows) + " rows"};
    const auto all = co_await register_workspaces(context, context.opts.workspaces);
    auto requests = co_await staged_polls(context, all, rows);
    for (auto& request : requests)
        made.add(std::move(request));
    co_return made;
}

// Polls and uploads use different workspaces; otherwise the polls would grow while they are measured.
awaitable<plan> plan_mixed(const scenario_context& context)
{
    constexpr std::uint64_t bytes = 10 * 1024;
    constexpr std::size_t rows = 10;
    plan made;
    made.kinds = {"mixed: poll, 10 rows", sized("mixed: upload", bytes), sized("mixed: fetch", bytes)};
    const auto readers = co_await register_workspaces(context, context.opts.workspaces);
    const auto writers = co_await register_workspaces(context, context.opts.workspaces);
    const auto polls = co_await staged_polls(context, readers, rows);
    const auto fetches = co_await staged_fetches(context, readers, bytes);
    for (std::size_t i = 0; i < fetches.size(); ++i) {
        for (std::size_t j = 0; j < 3; ++j)
            made.add(polls[(3 * i + j) % polls.size()], 0);
        made.add(upload_request(writers[i % writers.size()], bytes, 1), 1);
        made.add(fetches[i], 2);
    }
    co_return made;
}

}  // namespace

std::vector<measurement> run_upload(const scenario_context& context, const std::string& argument)
{
    return run_plan(context, plan_upload(context, read_shape(argument)));
}

std::vector<measurement> run_fetch(const scenario_context& context, const std::string& argument)
{
    return run_plan(context, plan_fetch(context, read_size(argument)));
}

std::vector<measurement> run_poll(const scenario_context& context, const std::string& argument)
{
    if (!context.opts.cursors.empty())
        return run_load(context, plan_from_file(context.opts.cursors));
    return run_plan(context, plan_poll(context, read_count(argument)));
}

std::vector<measurement> run_mixed(const scenario_context& context, const std::string&)
{
    return run_plan(context, plan_mixed(context));
}

}  // namespace restante::bench
