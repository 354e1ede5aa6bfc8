#include "server/events/parked_read.hpp"

#include "http/session/client_watch.hpp"

namespace restante {

using steady = std::chrono::steady_clock;

awaitable<error_code> read_or_wait(request_context& req, task_group& requests, parked_requests& among,
                                   uuid about, const principal& who, std::chrono::seconds limit,
                                   parked_read& what)
{
    const auto until = steady::now() + limit;
    parked_requests::place place(among, about, who);
    if (!place.granted())
        co_return RESTANTE_ERROR(errc::no_room);
    bool over = false;
    const auto give_up = [&] {
        over = true;
        place.ring();
    };
    const task_group::stop_callback on_stop(requests, give_up);
    const client_watch watch(req, give_up);
    for (;;) {
        place.look_again();
        if (const auto ec = co_await what.read())
            co_return ec;
        // When the time is over it has read once more: an answer must be true, and while the database is
        // unavailable that is unknown.
        if (what.enough() || over || steady::now() >= until)
            co_return error_code{};
        place.has_seen(what.reaches());
        co_await place.wait(until);
        if (place.refused())
            co_return RESTANTE_ERROR(errc::invalid_token);
        if (over)
            co_return error_code{};
    }
}

}  // namespace restante
