#pragma once

#include "core/clock.hpp"
#include "core/secret_hash.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <list>
#include <utility>

namespace restante {

// A map whose entries expire, with a capacity: when full, it evicts the oldest entry. All entries have the
// same lifetime, so insertion order is expiry order, and both expiry and eviction work on one end of a list.
template <class Key, class Value>
class expiring_map {
public:
    using duration = clock::time_point::duration;

    expiring_map(duration lifetime, std::size_t capacity) : lifetime_(lifetime), capacity_(capacity) {}

    // nullptr if absent or expired; valid until the next change.
    Value* find(const Key& key, clock::time_point now)
    {
        const auto found = index_.find(key);
        return found != index_.end() && now < found->second->expires ? &found->second->value : nullptr;
    }

    // Inserts or replaces; either way the entry gets a full lifetime from now.
    Value& put(const Key& key, Value value, clock::time_point now)
    {
        erase(key);
        while (!entries_.empty() && (entries_.front().expires <= now || entries_.size() >= capacity_))
            drop(entries_.begin());
        entries_.push_back({key, std::move(value), now + lifetime_});
        index_.emplace(key, std::prev(entries_.end()));
        return entries_.back().value;
    }

    void erase(const Key& key)
    {
        if (const auto found = index_.find(key); found != index_.end())
            drop(found->second);
    }

    template <class Predicate>
    void erase_if(Predicate unwanted)
    {
        for (auto it = entries_.begin(); it != entries_.end();) {
            const auto here = it++;
            if (unwanted(here->key, here->value))
                drop(here);
        }
    }

    std::size_t size() const { return entries_.size(); }

private:
    struct entry {
        Key key;
        Value value;
        clock::time_point expires;
    };
    using entry_list = std::list<entry>;

    void drop(typename entry_list::iterator which)
    {
        index_.erase(which->key);
        entries_.erase(which);
    }

    duration lifetime_;
    std::size_t capacity_;
    entry_list entries_;
    boost::unordered_flat_map<Key, typename entry_list::iterator, secret_hash> index_;
};

}  // namespace restante
