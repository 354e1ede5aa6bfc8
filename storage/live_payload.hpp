#pragma once

#include "storage/live_event.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace restante {

// Live events between servers, as payloads of NOTIFY.
struct live_payload {
    uuid sender{};
    // The sender's count of its payloads; 0 if it says none.
    std::int64_t number = 0;
    std::vector<std::shared_ptr<const live_event>> events;
};

// Takes out of `waiting`, oldest first, what one payload holds. An event that no payload can hold goes
// without its own payload.
std::string write_live_payload(const uuid& sender, std::int64_t number,
                               std::deque<std::shared_ptr<const live_event>>& waiting);

// Skips events that it does not understand; nullopt without a sender.
std::optional<live_payload> read_live_payload(std::string_view payload);

// A sender that lost the reply to its NOTIFY sends the same payload again, though it may have been delivered.
class delivered_payloads {
public:
    // Beyond so many senders, all are forgotten; a server is a new sender each time it starts.
    static constexpr std::size_t most_senders = 1024;

    // Whether this one was not delivered before; it counts as delivered then.
    bool add(const live_payload& received);

private:
    std::map<uuid, std::int64_t> last_;
};

}  // namespace restante
