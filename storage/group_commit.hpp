#pragma once

#include "core/ids.hpp"
#include "core/secret_hash.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace restante {

// Group commit, decided without doing any of it: which small requests share a transaction, and when it
// starts. While enough transactions are under way, requests wait in a queue; when one ends, the request at
// the head of the queue starts the next transaction (it leads) and adds queued ones (its members). Time is
// handed in.
//
// Workspaces take turns, so that one with a hundred requests does not keep another waiting for a hundred. A
// workspace whose rows are locked by somebody else is isolated for a while: its requests share transactions
// only with each other, and one such transaction runs at a time beside the others.
class group_commit {
public:
    using clock = std::chrono::steady_clock;
    using ticket = std::uint64_t;

    struct limits {
        // Two commits at a time keep both PostgreSQL and the disk busy; more only make the groups smaller.
        unsigned transactions = 2;
        std::size_t members = 16;
        std::uint64_t bytes = 1 << 20;  // of one group, unless its leader alone has more
        std::size_t waiting = 1024;
        std::size_t waiting_each = 256;  // of one workspace
        std::chrono::milliseconds isolation = std::chrono::seconds(10);
    };

    struct request {
        ticket who = 0;
        uuid workspace{};
        std::uint64_t bytes = 0;
    };

    enum class verdict {
        lead,    // start a transaction now: form_group(), and finish() when it has ended
        wait,    // queued; finish() or form_group() of another request will name this one
        refuse,  // too many are waiting
    };

    explicit group_commit(limits with) : limits_(with) {}

    verdict join(const request& next, clock::time_point now);

    // The members of this leader's transaction, itself first. They have left the queue.
    std::vector<ticket> form_group(const request& leader, clock::time_point now);

    // The transaction that this request led has ended. The request that leads the next one, if any waits and
    // may start; call it until it names nobody.
    void finish(const request& leader);
    std::optional<ticket> next_leader(clock::time_point now);

    // A queued request gave up. False when it is not in the queue any more: it leads, or is a member.
    bool leave(ticket who);

    // A transaction failed because another one holds this workspace's rows; or one has succeeded.
    void isolate(const uuid& workspace, clock::time_point now);
    void release(const uuid& workspace);
    bool is_isolated(const uuid& workspace, clock::time_point now) const;

    std::size_t waiting() const { return waiting_; }
    unsigned under_way() const { return shared_ + isolated_; }

private:
    // The queued requests of one workspace; lines_ is in the order of turns.
    struct line {
        uuid workspace{};
        std::deque<request> requests;
    };
    using lines = std::list<line>;

    bool may_start(bool isolated) const;
    void start(const request& leader, bool isolated);
    request take_first(lines::iterator from);
    lines::iterator find(const uuid& workspace);

    limits limits_;
    unsigned shared_ = 0;
    unsigned isolated_ = 0;
    std::map<ticket, bool> leaders_;  // whether the transaction is an isolated one
    lines lines_;
    std::size_t waiting_ = 0;
    std::unordered_map<uuid, clock::time_point, secret_hash> isolated_until_;
};

}  // namespace restante
