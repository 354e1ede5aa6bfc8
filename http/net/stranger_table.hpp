#pragma once

#include "core/address_key.hpp"

#include <boost/intrusive/list.hpp>

#include <cstdint>
#include <map>
#include <vector>

namespace restante {

// The connections of one shard whose clients have not yet shown who they are, by source address. It keeps one
// address from taking all places: beyond its limit a new connection replaces the oldest of that address that
// waits for its client, and when a listener is full, so does the oldest of the address that has most.
//
// Loopback has no limit of its own, because everybody behind a proxy on this machine comes from there.
class stranger_table {
    struct source;

public:
    class entry : public boost::intrusive::list_base_hook<> {
    public:
        // Ends the connection if it waits for its client; false while it is at work, or too new.
        virtual bool evict() = 0;

    protected:
        ~entry() = default;

    private:
        friend class stranger_table;
        source* from_ = nullptr;
    };

    // 0: no limit per address.
    explicit stranger_table(std::size_t per_address) : per_address_(per_address), by_count_(1) {}
    stranger_table(const stranger_table&) = delete;
    stranger_table& operator=(const stranger_table&) = delete;

    // False when its address has too many and none of them can go.
    bool add(entry& newcomer, const boost::asio::ip::address& address);
    // It is known now, or has ended. Nothing happens if it is not in the table (any more).
    void remove(entry& who);

    // Ends one connection so that its place comes free. False when all are at work.
    bool make_room();

    std::size_t size() const { return size_; }
    std::uint64_t refused() const { return refused_; }
    std::uint64_t evicted() const { return evicted_; }

private:
    using entry_list = boost::intrusive::list<entry>;
    struct source : boost::intrusive::list_base_hook<> {
        address_key key{};
        std::size_t count = 0;
        entry_list entries;  // the oldest first
    };
    using source_list = boost::intrusive::list<source, boost::intrusive::constant_time_size<false>>;

    bool evict_one_of(source& from);
    void recount(source& from, std::size_t count);

    std::size_t per_address_;
    std::map<address_key, source> sources_;
    std::vector<source_list> by_count_;  // [n] has those with n entries; the last one is not empty
    std::size_t size_ = 0;
    std::uint64_t refused_ = 0;
    std::uint64_t evicted_ = 0;
};

}  // namespace restante
