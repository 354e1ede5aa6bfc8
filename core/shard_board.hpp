#pragma once

#include "core/asio.hpp"

#include <boost/asio/post.hpp>

#include <vector>

namespace restante {

// Listeners on several shards, and the thread each lives on. A notice reaches a listener on its own thread.
// Listeners subscribe before the shards run and live as long as their shards do.
template <class Listener>
class shard_board {
public:
    void subscribe(executor home, Listener& listener) { listeners_.push_back({home, &listener}); }

    // Posts to every listener but `except`, which is the one that the notice came from.
    template <class Notice>
    void post(Notice notice, const Listener* except = nullptr) const
    {
        for (const auto& each : listeners_)
            if (each.listener != except)
                asio::post(each.home, [listener = each.listener, notice] { notice(*listener); });
    }

    // Calls the listeners of this shard at once and posts to the others.
    template <class Notice>
    void publish(executor from, Notice notice) const
    {
        for (const auto& each : listeners_) {
            if (each.home == from)
                notice(*each.listener);
            else
                asio::post(each.home, [listener = each.listener, notice] { notice(*listener); });
        }
    }

private:
    struct subscription {
        executor home;
        Listener* listener;
    };
    std::vector<subscription> listeners_;
};

}  // namespace restante
