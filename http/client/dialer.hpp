#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"
#include "http/client/http_url.hpp"
#include "http/client/name_resolver.hpp"
#include "http/net/connection.hpp"
#include "http/net/tls_context.hpp"

#include <functional>
#include <memory>
#include <stop_token>

namespace restante {

// Whether an address may be connected to.
using address_judge = std::function<bool(const asio::ip::address&)>;

struct dial_options {
    name_resolver& names;
    address_judge judge;
    tls_context tls;
    std::chrono::milliseconds connect_limit = std::chrono::seconds(10);  // resolving included
    std::chrono::milliseconds handshake_limit = std::chrono::seconds(5);
};

// Opens a connection: resolves the name, judges every address, connects to the judged ones in their order,
// shakes hands. The name is resolved once; whatever DNS says afterwards, the address that was judged is the
// address that is dialled. One refused address refuses the name: who is asked next time must not be chance.
//
// Errors: address_refused, name_not_found, connect_failed, those of is_tls_failure(), broken, late, and
// cancelled once a stop was requested, which ends whatever waits.
awaitable<result<std::unique_ptr<connection>>> dial(const dial_options& options, const http_origin& to,
                                                    std::chrono::steady_clock::time_point until,
                                                    std::stop_token stop = {});

}  // namespace restante
