#include "storage/pq/address_race.hpp"

#include "core/wakeup.hpp"

#include <algorithm>

namespace restante::pq {

namespace {

constexpr auto head_start = std::chrono::milliseconds(250);

}  // namespace

struct address_race::attempt {
    server_address where;
    std::string why = {};
    error_code failure = {};
    bool failed = false;
    bool elsewhere = false;  // it answers, and is not the primary
};

struct address_race::state {
    state(executor ex, conninfo how, connect_options with)
        : info(std::move(how)), options(std::move(with)), changed(ex)
    {
    }

    bool all_failed() const
    {
        return std::ranges::all_of(attempts, [](const attempt& each) { return each.failed; });
    }

    // libpq's own messages name the address; ours do not.
    error_code sum_up(std::string& why) const
    {
        error_code failure = RESTANTE_ERROR(errc::database_timeout);
        for (const auto& each : attempts) {
            const bool silent = each.failure == errc::database_timeout;
            const bool ours = silent || each.elsewhere || each.failure == errc::database_unsafe;
            if (!silent)
                failure = each.failure;
            why += why.empty() ? "" : "; ";
            why += ours ? each.where.text() + ": " + each.why : each.why;
        }
        return failure;
    }

    conninfo info;
    connect_options options;
    std::vector<attempt> attempts;
    std::unique_ptr<connection> winner;
    wakeup changed;
};

address_race::address_race(executor ex, conninfo info, connect_options options)
    : state_(std::make_shared<state>(ex, std::move(info), std::move(options))), tasks_(ex)
{
}

address_race::~address_race()
{
    tasks_.cancel();
}

awaitable<result<std::unique_ptr<connection>>> address_race::run(std::vector<server_address> addresses,
                                                                 std::string& why)
{
    state& race = *state_;
    for (auto& where : addresses)
        race.attempts.push_back({.where = std::move(where)});
    for (std::size_t i = 0; i < race.attempts.size() && !race.winner; ++i) {
        tasks_.spawn("connect", try_one(state_, i));
        const auto move_on = wakeup::time_point::clock::now() + head_start;
        bool in_time = true;
        while (in_time && !race.winner && !race.attempts[i].failed)
            in_time = co_await race.changed.wait_until(move_on);
    }
    while (!race.winner && !race.all_failed())
        co_await race.changed.wait();
    if (!race.winner)
        co_return race.sum_up(why);
    co_return std::move(race.winner);
}

awaitable<void> address_race::try_one(std::shared_ptr<state> race, std::size_t index)
{
    attempt& self = race->attempts[index];
    auto opened = co_await connection::open_at(self.where, race->info, race->options, self.why);
    // A former primary, or a standby where the connection string asks for any server: the primary may be
    // among the others, or one of them becomes it. The same where a standby is wanted.
    if (opened && (*opened)->verdict().primary_elsewhere) {
        self.why = (*opened)->verdict().fault;
        self.elsewhere = true;
        opened = RESTANTE_ERROR(errc::database_unavailable);
    }
    if (!opened) {
        self.failure = opened.error();
        self.failed = true;
    } else if (!race->winner) {
        race->winner = std::move(*opened);
    }
    race->changed.notify_all();
}

}  // namespace restante::pq
