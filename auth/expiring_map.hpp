#pragma once

#include "core/clock.hpp"

#include <list>
#include <map>
#include <utility>

namespace restante {

// Values that are forgotten after a while, and the oldest first when there are too many. All live equally
// long, so the order of arrival is the order of expiry, and both kinds of forgetting look at one end of a
// list.
//
// The index is ordered and not hashed: the keys come from outside, and nobody should be able to choose them
// so that they collide.
template <class Key, class Value>
class expiring_map {
public:
    using duration = clock::time_point::duration;

    expiring_map(duration lifetime, std::size_t capacity) : lifetime_(lifetime), capacity_(capacity) {}

    // nullptr when absent or expired; valid until the next change.
    Value* find(const Key& key, clock::time_point now)
    {
        const auto found = index_.find(key);
        return found != index_.end() && now < found->second->expires ? &found->second->value : nullptr;
    }

    // Adds or replaces; either way the value lives for a whole lifetime from now on.
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
    std::map<Key, typename entry_list::iterator> index_;
};

}  // namespace restante
