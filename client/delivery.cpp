#include "client/delivery.hpp"

#include "client/command_runner.hpp"
#include "client/plain_json.hpp"
#include "client/recovery.hpp"
#include "client/terminal_text.hpp"
#include "client/uri_rewrite.hpp"
#include "core/fault_point.hpp"
#include "core/secret_hash.hpp"

#include <boost/json/serialize.hpp>

namespace restante::client {

namespace {

namespace json = boost::json;

constexpr auto time_for_ack = std::chrono::seconds(60);

// A file that is being delivered, in the set of those, for as long as this lives.
class claimed_file {
public:
    claimed_file(std::unordered_set<uuid, secret_hash>& all, const uuid& which)
        : all_(all), which_(which), mine_(all.insert(which).second)
    {
    }
    ~claimed_file()
    {
        if (mine_)
            all_.erase(which_);
    }
    claimed_file(const claimed_file&) = delete;
    claimed_file& operator=(const claimed_file&) = delete;

    explicit operator bool() const { return mine_; }

private:
    std::unordered_set<uuid, secret_hash>& all_;
    uuid which_;
    bool mine_;
};

}  // namespace

delivery::delivery(task_group& tasks, const settings& config, server_api& api, pull_state& disk,
                   worker_pool& workers, reporter& out)
    : tasks_(tasks),
      config_(config),
      disk_(disk),
      workers_(workers),
      out_(out),
      places_{api, workers, disk.partials->get(), "/workspaces/" + config.workspace},
      partials_(
          tasks.get_executor(), workers, [&disk] { return std::vector{disk.partials}; },
          "the directory of partial files"),
      before_placing_(
          tasks.get_executor(), workers, [&disk] { return std::vector{disk.log.handle()}; }, "the journal"),
      after_placing_(
          tasks.get_executor(), workers, [&disk] { return std::vector{disk.target.handle()}; },
          "the directory"),
      commands_(tasks.get_executor(), config.exec_parallel)
{
}

awaitable<outcome<void>> delivery::deliver_file(const feed_row& row)
{
    const auto& what = *row.file;
    // A server that tells of a file twice must not have two fetches write into one partial file.
    const claimed_file mine(under_way_, what.id);
    if (!mine)
        co_return failure{exit_code::gave_up, "bad_answer", "The feed tells of a file twice.", true};
    // Nobody could tell whether its bytes are right.
    if (what.bad_digest)
        co_return bad_answer(printable(what.name) + ": what the feed says is no SHA-256.");
    const auto name = co_await get_into_directory(what);
    if (!name && name.error().code == "gone") {
        remove_partial(disk_.partials->get(), what.id);
        out_.note("gone", {{"file_id", to_string(what.id)}, {"name", what.name}}, "");
        co_return outcome<void>();
    }
    if (!name)
        co_return name.error();
    fault_point("client_placed");

    if (!config_.exec.empty() && !disk_.log.facts().has_run(what.id))
        if (auto ran = co_await run_and_note(row, *name); !ran)
            co_return ran;
    if (auto acked = co_await ack(what); !acked)
        co_return acked;
    fault_point("client_acked");
    report(row, *name);
    co_return outcome<void>();
}

awaitable<outcome<void>> delivery::run_and_note(const feed_row& row, const std::string& name)
{
    const auto& what = *row.file;
    if (!ran_.contains(what.id)) {
        const auto told = rewritten(row.json);
        if (auto ran = co_await run_for(told, &what, disk_.target.path_of(name)); !ran) {
            auto why = ran.error();
            why.text = printable(name) + ": " + why.text;
            co_return why;
        }
        ran_.insert(what.id);
    }
    auto noted = disk_.log.append(ran_line(what.id));
    if (noted)
        ran_.erase(what.id);
    co_return noted;
}

// The name of the file in the directory, where it is safe from a power failure.
awaitable<outcome<std::string>> delivery::get_into_directory(const announced_file& what)
{
    const auto id = to_string(what.id);
    const auto noted = disk_.log.facts().placed_name(what.id);
    left_behind found{.placing = noted.has_value(),
                      .partial_size = partial_size(disk_.partials->get(), what.id)};
    found.is_in_directory = noted && disk_.target.is_same_file(*noted, disk_.partials->get(), id);
    if (after_restart(found, what.size) == next_step::finish) {
        remove_partial(disk_.partials->get(), what.id);
        // The crash may have come between the move and its sync.
        if (auto synced = co_await after_placing_.run(); !synced)
            co_return synced.error();
        co_return *noted;
    }
    const auto shown = out_.progress().begin(what.name, what.size, 0);
    auto file = co_await fetch(places_, what, *shown);
    if (!file)
        co_return file.error();
    shown->complete();
    co_return co_await place(what, *std::move(file));
}

awaitable<outcome<std::string>> delivery::place(const announced_file& what, partial_file file)
{
    auto sync_file = [&file] { return file.sync(); };
    if (auto synced = co_await workers_.run(sync_file); !synced) {
        // The next sync would succeed without the pages that this one has dropped. Emptied and not removed:
        // to a journal that says "placing", a file that is gone was placed.
        auto restart = [&file] { return file.restart(); };
        if (auto emptied = co_await workers_.run(restart); !emptied)
            co_return emptied.error();
        co_return synced.error();
    }
    // Before the journal says a word of it, which may reach the disk without being synced.
    if (auto synced = co_await partials_.run(); !synced)
        co_return synced.error();
    if (auto there = disk_.target.reopen(); !there)
        co_return there.error();
    const auto wanted = safe_name(what.name);
    for (;;) {
        const auto name = names_.reserve(wanted, [this](const auto& each) { return disk_.target.has(each); });
        auto placed = co_await place_as(what, name);
        names_.release(name);
        if (!placed)
            co_return placed.error();
        if (*placed)
            co_return name;
    }
}

// The order is what makes a crash harmless; client/recovery.hpp says why.
awaitable<outcome<bool>> delivery::place_as(const announced_file& what, const std::string& name)
{
    if (auto noted = disk_.log.append(placing_line(what.id, name)); !noted)
        co_return noted.error();
    fault_point("client_noted");
    if (auto synced = co_await before_placing_.run(); !synced) {
        disk_.log.distrust();
        co_return synced.error();
    }
    fault_point("client_placing");
    const auto into = disk_.target.handle();
    const auto taken = disk_.target.take(disk_.partials->get(), to_string(what.id), name);
    if (!taken || !*taken)
        co_return taken;
    if (auto synced = co_await after_placing_.run(); !synced)
        co_return synced.error();
    if (into == disk_.target.handle())
        co_return true;
    // Another file has found another directory in the place of the one that this one was moved into.
    auto sync_other = [&into] { return sync(into->get(), "the directory"); };
    if (auto synced = co_await workers_.run(sync_other); !synced)
        co_return synced.error();
    co_return true;
}

awaitable<outcome<void>> delivery::ack(const announced_file& what)
{
    const auto path = places_.workspace + "/pending-uploads/" + to_string(what.id) + "/ack";
    std::string body = "{}";
    if (!what.sha256.empty())
        body = json::serialize(json::object{{"sha256", what.sha256}});
    const auto got = co_await places_.api.post(path, std::move(body), time_for_ack);
    if (!got)
        co_return got.error();
    // An ack that was repeated, after the sweep: the file is here, and nobody waits for the ack any more.
    const bool swept = got->status == 404 && error_code_of(got->body) == "not_found";
    if (says_acked(*got) || swept)
        co_return outcome<void>();
    if (got->ok())
        co_return bad_answer("acking " + printable(what.name) +
                             ": the server has not said that it is acked.");
    co_return failure_of(*got, "acking " + printable(what.name));
}

awaitable<outcome<void>> delivery::deliver_message(const feed_row& row)
{
    const auto told = rewritten(row.json);
    if (!config_.exec.empty())
        if (auto ran = co_await run_for(told, nullptr, ""); !ran)
            co_return ran;
    out_.data("message", {{"row", told}}, printable_lines(text_of_message(told.at("request_body"))));
    co_return outcome<void>();
}

awaitable<outcome<void>> delivery::run_for(const json::object& row, const announced_file* file,
                                           const std::string& path)
{
    const auto slot = co_await commands_.take();
    if (tasks_.stop_requested())
        co_return failure{exit_code::interrupted, "interrupted", "Interrupted."};
    command_to_run what{.shell_text = config_.exec,
                        .input = json::serialize(row) + '\n',
                        .environment = {{"RESTANTE_WORKSPACE", config_.workspace},
                                        {"RESTANTE_FILE", path},
                                        {"RESTANTE_NAME", file ? file->name : ""},
                                        {"RESTANTE_SHA256", file ? file->sha256 : ""}},
                        .timeout = config_.exec_timeout,
                        .output_to_stderr = config_.json};
    out_.progress().erase();
    co_return co_await run_command(std::move(what), tasks_);
}

json::object delivery::rewritten(const json::object& row) const
{
    json::value copy(row);
    const auto find = [this](const uuid& file) -> std::optional<std::string> {
        const auto name = disk_.log.facts().placed_name(file);
        return name ? std::optional(disk_.target.path_of(*name)) : std::nullopt;
    };
    rewrite_uris(copy, find);
    make_plain(copy);
    return std::move(copy.get_object());
}

void delivery::report(const feed_row& row, const std::string& name)
{
    const auto& what = *row.file;
    const auto path = disk_.target.path_of(name);
    json::object fields{{"path", path},
                        {"name", what.name},
                        {"file_id", to_string(what.id)},
                        {"size", what.size},
                        {"sha256", what.sha256},
                        {"mimeType", what.mime_type},
                        {"row_id", to_string(row.id)}};
    out_.data("file", std::move(fields), path);
}

}  // namespace restante::client
