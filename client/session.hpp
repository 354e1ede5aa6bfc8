#pragma once

#include "client/reporter.hpp"
#include "client/server_api.hpp"

#include <boost/asio/basic_signal_set.hpp>

#include <functional>
#include <optional>

namespace restante::client {

// What every command needs to talk to its server, on one thread.
class session {
public:
    // Fails when there is no usable token or certificate.
    static outcome<std::unique_ptr<session>> open(const settings& config, reporter& out);

    executor get_executor() { return io_.get_executor(); }
    server_api& api() { return *api_; }

    // Runs it to its end. SIGINT, SIGTERM or SIGHUP calls `on_signal`, or without one ends it at once, as
    // interrupted; a second signal ends the process.
    exit_code run(awaitable<exit_code> work, const std::function<void(int)>& on_signal = nullptr);

private:
    session() = default;

    asio::io_context io_{1};
    // Caught as soon as a session is open: who reads that a command has started may stop it at once.
    std::optional<asio::basic_signal_set<executor>> signals_;
    token_source token_;
    std::unique_ptr<server_api> api_;
};

}  // namespace restante::client
