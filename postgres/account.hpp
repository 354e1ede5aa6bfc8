#pragma once

#include "core/startup_failure.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

namespace restante {

// Whose rights a program runs with.
struct account {
    uid_t uid = 0;
    gid_t gid = 0;
    std::string name;
    std::vector<gid_t> groups;

    bool is_us() const;
};

// PostgreSQL refuses to run as root, so root lends it to the user postgres; everybody else runs it as
// themselves. Fails when we are root and there is no such user.
startup_result<account> account_for_postgres();

// The name of a user, or its number where it has none.
std::string user_name(uid_t uid);

}  // namespace restante
