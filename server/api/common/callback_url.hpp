#pragma once

#include "core/asio.hpp"
#include "http/client/address_policy.hpp"
#include "http/client/http_url.hpp"

#include <string>

namespace restante {

class name_resolver;

// Where a workspace may be called, as far as its URL alone tells: addresses and `localhost` are judged here,
// other names when they are resolved for a connection. Errors: bad_url, address_refused.
result<http_url> check_callback_url(std::string_view url, const address_policy& allowed);

struct callback_rules {
    address_policy allowed;
    name_resolver& names;
};

// The same at registration, where names are resolved too: whoever registers learns at once that its name
// leads where nobody may be called. A name that cannot be resolved now may be later; every forward judges it
// again.
awaitable<error_code> check_new_callback(std::string url, const callback_rules& rules);

}  // namespace restante
