#pragma once

#include "http/client/address_policy.hpp"
#include "http/client/http_url.hpp"

namespace restante {

// Where a workspace may be called, as far as its URL alone tells: addresses and `localhost` are judged here,
// other names when they are resolved for a connection. Errors: bad_url, address_refused.
result<http_url> check_callback_url(std::string_view url, const address_policy& allowed);

}  // namespace restante
