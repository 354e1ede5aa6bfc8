#pragma once

#include "core/ids.hpp"
#include "core/secret_hash.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

namespace restante::pq {

// Who waits for the connections of one lane, and who holds them. Owners are served in turn, so that one with
// a thousand requests delays another's by one turn; and as long as others wait, an owner that holds its share
// stands back. The owner nil is the server's own work.
class fair_queue {
public:
    using ticket = std::uint64_t;

    struct place {
        ticket who;
        uuid owner;
    };

    // A share is the most that an owner may hold while others wait.
    explicit fair_queue(unsigned share) : share_(share) {}

    void add(ticket who, const uuid& owner);
    void leave(ticket who);

    // The place to be served next, if anybody waits.
    std::optional<place> next() const;

    // It was served, and goes to the end of the turns.
    void serve(const place& served);

    // Any place, to be refused.
    place pop();

    // A connection was taken without waiting, or came back.
    void took(const uuid& owner);
    void returned(const uuid& owner);

    std::size_t size() const { return size_; }
    std::size_t waiting_of(const uuid& owner) const;
    unsigned held() const { return total_held_; }

private:
    struct line {
        uuid owner;
        std::deque<ticket> tickets;
    };

    bool has_its_share(const uuid& owner) const;

    unsigned share_;
    std::deque<line> turns_;  // the next owner first; none is empty
    std::unordered_map<uuid, unsigned, secret_hash> held_;
    std::size_t size_ = 0;
    unsigned total_held_ = 0;
};

}  // namespace restante::pq
