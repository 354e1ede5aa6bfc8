#pragma once

#include "core/asio.hpp"
#include "core/task_group.hpp"
#include "http/net/admission.hpp"
#include "http/net/connection.hpp"
#include "http/session/http_session.hpp"
#include "http/net/tls_context.hpp"

#include <boost/intrusive/list.hpp>

namespace restante {

using connection_list = boost::intrusive::list<connection, boost::intrusive::constant_time_size<false>>;

// What the listeners of one shard share.
struct front_desk {
    task_group& requests;
    connection_list& connections;
    admission& connection_places;
    admission& handshake_places;
    tls_context tls;  // replaced when the certificate is; new connections take the new one
};

enum class transport { plain, tls };

// One listening socket of one shard.
class front_door {
public:
    front_door(tcp_acceptor acceptor, transport kind, front_desk& desk, const session_environment& env);

    // Accepts until stop(), a session for each connection. Running out of descriptors or memory pauses it for
    // a moment, and being full leaves newcomers in the kernel's queue; neither ends it.
    awaitable<void> run();

    // Takes in those who wait in the kernel's queue, because they were there before the stop, and closes.
    void stop();

private:
    void receive(tcp_socket socket, admission::ticket place);

    tcp_acceptor acceptor_;
    transport kind_;
    front_desk& desk_;
    const session_environment& env_;
};

}  // namespace restante
