#pragma once

#include "core/error.hpp"

#include <boost/asio/ip/address.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace restante {

// Where a connection goes, and whom TLS has to find there.
struct http_origin {
    bool tls = false;
    std::string host;  // a DNS name in lower case without its last dot, or an address without brackets
    std::uint16_t port = 0;
    std::optional<boost::asio::ip::address> address;  // when the host is one

    bool operator==(const http_origin&) const = default;

    // The value of Host: with brackets for IPv6, and without the scheme's own port.
    std::string authority() const;
};

struct http_url {
    http_origin origin;
    std::string path;  // as given, still encoded; empty or beginning with a slash
};

// A host that stands for this machine without being an address: `localhost` and what ends in `.localhost`.
bool is_localhost_name(std::string_view host) noexcept;

// Reads an absolute http or https URL that can be called. A host that some resolver would take for an IPv4
// address (0x7f.1, 2130706433, 017700000001) is read as that address. Errors: bad_url, for anything else than
// scheme, host, port and path, for user information, a query, a fragment, port 0, a zone, an escape or a
// character outside ASCII in the host, and for names that DNS cannot hold. International names come as
// xn--….
result<http_url> parse_http_url(std::string_view text);

// The forms that inet_aton(3) reads: one to four numbers, decimal, octal or hexadecimal.
std::optional<boost::asio::ip::address_v4> parse_any_ipv4(std::string_view text) noexcept;

}  // namespace restante
