#pragma once

#include "core/asio.hpp"

namespace restante {

// The queue of a listener holds 256 events, and a live event that finds no room in it is lost. When many
// workspaces change at once, whoever reports them pauses after each hundred events, so that the sessions of
// listeners send what they have. The doorbell passes more than that to other servers in the same time.
class event_pace {
public:
    static constexpr int slice = 100;
    static constexpr auto pause = std::chrono::milliseconds(50);

    // After each event.
    awaitable<void> reported();

    // A server that stops has other things to wait for.
    void hurry() { hurries_ = true; }

private:
    int since_pause_ = 0;
    bool hurries_ = false;
};

}  // namespace restante
