#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"
#include "core/ids.hpp"
#include "core/secret_hash.hpp"

#include <chrono>
#include <deque>
#include <unordered_map>

namespace restante {

// Lets only some requests of one workspace go on at a time; the others wait here, in order and without a
// database connection. Workspaces do not wait for each other.
class workspace_turns {
public:
    struct limits {
        unsigned each = 1;  // at a time, of one workspace
        std::size_t waiting = 1024;
        std::size_t waiting_each = 256;  // of one workspace
        std::chrono::milliseconds wait_limit{1500};
    };

    // A request's turn. At its end the next one has it.
    class turn {
    public:
        turn(turn&& other) noexcept : from_(std::exchange(other.from_, nullptr)), workspace_(other.workspace_)
        {
        }
        turn& operator=(turn&&) = delete;
        ~turn();

    private:
        friend class workspace_turns;
        turn(workspace_turns& from, const uuid& workspace) : from_(&from), workspace_(workspace) {}

        workspace_turns* from_;
        uuid workspace_;
    };

    explicit workspace_turns(limits with) : limits_(with) {}
    workspace_turns(const workspace_turns&) = delete;
    workspace_turns& operator=(const workspace_turns&) = delete;

    // `restricted`: this one goes on only while no other of its workspace does. Errors: database_busy (not
    // its turn within wait_limit, or too many are waiting).
    awaitable<result<turn>> take(uuid workspace, bool restricted = false);

    std::size_t waiting() const { return waiting_; }

private:
    struct waiter {
        steady_timer timer;
        bool restricted;
        bool called = false;
    };
    struct line {
        unsigned running = 0;
        std::deque<waiter*> waiting;
    };
    class place;

    bool may_go(const line& behind, bool restricted) const
    {
        return behind.running < (restricted ? 1 : limits_.each);
    }
    void end_turn(const uuid& workspace);
    void admit(line& mine);

    limits limits_;
    std::unordered_map<uuid, line, secret_hash> lines_;
    std::size_t waiting_ = 0;
};

}  // namespace restante
