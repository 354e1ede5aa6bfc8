#include "http/net/stranger_table.hpp"

namespace restante {

bool stranger_table::add(entry& newcomer, const boost::asio::ip::address& address)
{
    const auto key = key_of(address);
    auto& from = sources_[key];
    from.key = key;
    const bool full = per_address_ > 0 && from.count >= per_address_ && !address.is_loopback();
    // The last of a source takes the source with it, so nothing of `from` is used after an eviction.
    if (full && !evict_one_of(from)) {
        ++refused_;
        return false;
    }
    auto& here = sources_[key];
    here.key = key;
    newcomer.from_ = &here;
    here.entries.push_back(newcomer);
    recount(here, here.count + 1);
    ++size_;
    return true;
}

void stranger_table::remove(entry& who)
{
    if (!who.from_)
        return;
    auto& from = *who.from_;
    who.from_ = nullptr;
    from.entries.erase(from.entries.iterator_to(who));
    --size_;
    recount(from, from.count - 1);
    if (from.count == 0)
        sources_.erase(address_key(from.key));
}

bool stranger_table::make_room()
{
    // From the largest down: those of an address may all be at work.
    for (auto n = by_count_.size(); n-- > 1;)
        for (auto& from : by_count_[n])
            if (evict_one_of(from))
                return true;
    return false;
}

bool stranger_table::evict_one_of(source& from)
{
    for (auto& candidate : from.entries) {
        if (!candidate.evict())
            continue;
        ++evicted_;
        remove(candidate);
        return true;
    }
    return false;
}

void stranger_table::recount(source& from, std::size_t count)
{
    if (from.count > 0)
        by_count_[from.count].erase(by_count_[from.count].iterator_to(from));
    from.count = count;
    if (count >= by_count_.size())
        by_count_.resize(count + 1);
    if (count > 0)
        by_count_[count].push_back(from);
    while (by_count_.size() > 1 && by_count_.back().empty())
        by_count_.pop_back();
}

}  // namespace restante
