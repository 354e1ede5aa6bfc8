#pragma once

#include "auth/expiring_map.hpp"
#include "core/asio.hpp"
#include "core/ids.hpp"

#include <variant>
#include <vector>

namespace restante {

class task_group;
class token_store;

// Which tokens were used since the last time they were stamped, at most once a minute each. A request only
// makes a note here; the writer does the rest.
class last_used_notes {
public:
    static constexpr auto interval = std::chrono::minutes(1);
    static constexpr std::size_t max_tokens = 10'000;

    void note(const uuid& token, clock::time_point now);
    // All that are due; noted as taken.
    std::vector<uuid> take();

private:
    expiring_map<uuid, std::monostate> recent_{interval, max_tokens};
    std::vector<uuid> due_;
};

// Writes the notes every second, in one statement, and once more when the group is asked to stop. A write
// that fails is forgotten: the next use a minute later is as good.
awaitable<void> run_last_used_writer(last_used_notes& notes, token_store& tokens, task_group& tasks);

}  // namespace restante
