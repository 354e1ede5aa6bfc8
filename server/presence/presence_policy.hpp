#pragma once

#include <algorithm>
#include <chrono>

namespace restante {

// What follows from --presence-timeout, which is 180 s unless a setting says otherwise.
struct presence_policy {
    std::chrono::milliseconds timeout = std::chrono::seconds(180);

    // Between two stamps of a workspace, at most. Clients that look at the last stamp themselves allow 90 s;
    // with a heartbeat every 30 s it is written with every second one, and at most about 61 s old.
    std::chrono::milliseconds stamp_interval() const
    {
        return std::min<std::chrono::milliseconds>(std::chrono::seconds(65), timeout * 2 / 5);
    }
    // Between two searches for silent workspaces.
    std::chrono::milliseconds search_interval() const
    {
        return std::min<std::chrono::milliseconds>(std::chrono::seconds(15), timeout / 8);
    }
};

}  // namespace restante
