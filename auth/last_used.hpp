#pragma once

#include "auth/expiring_map.hpp"
#include "core/asio.hpp"
#include "core/ids.hpp"

#include <variant>
#include <vector>

namespace restante {

class task_group;
class token_store;

// The tokens used since they were last stamped, at most once a minute each. A request only records the use
// here; the writer does the rest.
class last_used_notes {
public:
    static constexpr auto interval = std::chrono::minutes(1);
    static constexpr std::size_t max_tokens = 10'000;

    void note(const uuid& token, clock::time_point now);
    // Removes and returns all tokens that are due.
    std::vector<uuid> take();

private:
    expiring_map<uuid, std::monostate> recent_{interval, max_tokens};
    std::vector<uuid> due_;
};

// Writes the notes every second, in one statement, and once more when a stop is requested. A failed write is
// dropped: the next use, a minute later, will do.
awaitable<void> run_last_used_writer(last_used_notes& notes, token_store& tokens, task_group& tasks);

}  // namespace restante
