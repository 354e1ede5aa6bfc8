#include "auth/failure_limiter.hpp"

namespace restante {

bool failure_limiter::note(const boost::asio::ip::address& from, clock::time_point now)
{
    const auto where = key_of(from);
    const auto* before = places_.find(where, now);
    history past = before ? *before : history{};
    auto& oldest = past.moments[past.count % allowed];
    const bool too_many = past.count >= allowed && now - oldest < window;
    oldest = now;
    ++past.count;
    places_.put(where, past, now);
    return too_many;
}

}  // namespace restante
