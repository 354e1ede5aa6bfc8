#pragma once

#include "core/deadline.hpp"
#include "http/client/http_url.hpp"
#include "http/net/connection.hpp"

#include <list>
#include <memory>

namespace restante {

// Connections of one shard that wait for their next request. Few are kept and not for long: servers close
// idle connections too (after 5 s the eager ones), and a request must not meet that moment.
class idle_connections {
public:
    static constexpr auto lifetime = std::chrono::seconds(2);
    static constexpr std::size_t most_for_one = 16;
    static constexpr std::size_t most = 256;

    explicit idle_connections(executor ex);

    // The one that was used last; null when there is none that is still open.
    std::unique_ptr<connection> take(const http_origin& to);
    void put(const http_origin& to, std::unique_ptr<connection> conn);

    // Closes all of them; what is put from now on is closed at once.
    void stop();

    std::size_t size() const { return waiting_.size(); }

private:
    using clock = std::chrono::steady_clock;
    struct entry {
        http_origin to;
        std::unique_ptr<connection> conn;
        clock::time_point expires;
    };

    void drop_expired();

    std::list<entry> waiting_;  // the oldest first
    deadline next_expiry_;
    bool stopped_ = false;
};

}  // namespace restante
