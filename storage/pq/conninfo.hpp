#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"

#include <string>
#include <utility>
#include <vector>

namespace restante::pq {

// One place where a database may listen: an address, or a directory with a unix socket.
struct server_address {
    std::string host;
    std::string hostaddr;
    std::string port;

    bool operator==(const server_address&) const = default;
    std::string text() const;
};

// Keywords and values for PQconnectStartParams, parsed from a URL or a conninfo string, with our settings
// added. A list of hosts, and a name with several addresses, is taken apart here: libpq would block on names,
// and its non-blocking form has no timeout for each host.
class conninfo {
public:
    // Fails with bad_setting if libpq cannot parse the text or its lists of hosts and ports do not match; why
    // receives the reason.
    static result<conninfo> parse(const std::string& text, std::string& why);

    void set_default(const std::string& keyword, const std::string& value);
    const std::string* find(const std::string& keyword) const;

    // The hosts as written, one for each element of the lists.
    const std::vector<server_address>& hosts() const { return hosts_; }

    // All addresses of all hosts, in order; host names are resolved without blocking, all at the same time.
    // A name that is not resolved within `limit` has the addresses that it had last. Empty if no name could
    // be resolved.
    awaitable<std::vector<server_address>> resolve(std::chrono::milliseconds limit) const;

    // From now on the keywords and values lead to this address only.
    void select(const server_address& one);

    const char* const* keywords();
    const char* const* values();

private:
    bool take_hosts(std::string& why);
    void set(const std::string& keyword, const std::string& value);

    std::vector<std::pair<std::string, std::string>> items_;
    std::vector<server_address> hosts_;
    std::vector<const char*> keywords_;
    std::vector<const char*> values_;
};

}  // namespace restante::pq
