#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"

#include <string>
#include <utility>
#include <vector>

namespace restante::pq {

// Keywords and values for PQconnectStartParams, parsed from a URL or a conninfo string, with our settings
// added and host names resolved by Asio (libpq would block on them).
class conninfo {
public:
    // Fails with bad_setting if libpq cannot parse the text; why receives the reason.
    static result<conninfo> parse(const std::string& text, std::string& why);

    void set_default(const std::string& keyword, const std::string& value);
    void append_options(const std::string& session_settings);
    awaitable<error_code> resolve_host();

    const char* const* keywords();
    const char* const* values();

private:
    const std::string* find(const std::string& keyword) const;

    std::vector<std::pair<std::string, std::string>> items_;
    std::vector<const char*> keywords_;
    std::vector<const char*> values_;
};

}  // namespace restante::pq
