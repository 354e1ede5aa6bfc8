#pragma once

#include "core/asio.hpp"
#include "core/task_group.hpp"
#include "http/net/admission.hpp"
#include "http/net/connection.hpp"
#include "http/net/tls_context.hpp"

#include <boost/intrusive/list.hpp>

#include <functional>

namespace restante {

using connection_list = boost::intrusive::list<connection, boost::intrusive::constant_time_size<false>>;

// What the listeners of one shard share.
struct accept_context {
    task_group& requests;
    connection_list& connections;
    admission& connection_places;
    admission& handshake_places;
    stranger_table& strangers;
    std::chrono::milliseconds handshake_timeout = std::chrono::seconds(10);
    tls_context tls = nullptr;  // replaced on reload; new connections take the new one
};

enum class transport { plain, tls };

// One listening socket of one shard.
class accept_loop {
public:
    // Serves one established connection until it ends.
    using session = std::function<awaitable<void>(connection&)>;

    accept_loop(tcp_acceptor acceptor, transport kind, accept_context& shared, session serve);

    // Accepts until stop(), a session for each connection. Running out of descriptors or memory pauses it for
    // a moment; neither that nor being full ends it. When all places are taken, a connection of a stranger
    // that waits for its client makes room for a new one; if there is none, new ones wait in the kernel's
    // queue.
    awaitable<void> run();

    // Accepts the connections in the kernel's backlog, because they came before the stop, and closes.
    void stop();

private:
    awaitable<std::optional<admission::ticket>> place_for_next();
    void start_session(tcp_socket socket, admission::ticket place);

    tcp_acceptor acceptor_;
    transport kind_;
    accept_context& shared_;
    session serve_;
};

}  // namespace restante
