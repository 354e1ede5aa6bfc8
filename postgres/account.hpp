#pragma once

#include "core/startup_failure.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

namespace restante {

// The user and groups that a program runs as.
struct account {
    uid_t uid = 0;
    gid_t gid = 0;
    std::string name;
    std::vector<gid_t> groups;

    bool is_us() const;
};

// PostgreSQL refuses to run as root, so root runs it as the user postgres; everybody else runs it as
// themselves. Fails if we are root and there is no such user.
startup_result<account> account_for_postgres();

// The name of a user, or the uid if it has none.
std::string user_name(uid_t uid);

}  // namespace restante
