#include "postgres/account.hpp"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

namespace restante {

bool account::is_us() const
{
    return uid == ::geteuid();
}

startup_result<account> account_for_postgres()
{
    if (::geteuid() != 0)
        return account{::geteuid(), ::getegid(), user_name(::geteuid()), {}};

    const passwd* user = ::getpwnam("postgres");
    if (!user)
        return startup_failure{
            "there is no user postgres, and PostgreSQL does not run as root; "
            "install it with: apt-get install postgresql-15"};
    account found{user->pw_uid, user->pw_gid, user->pw_name, {}};

    int count = 64;
    found.groups.resize(static_cast<std::size_t>(count));
    if (::getgrouplist(user->pw_name, user->pw_gid, found.groups.data(), &count) < 0)
        return startup_failure{"the user postgres is in too many groups"};
    found.groups.resize(static_cast<std::size_t>(count));
    return found;
}

std::string user_name(uid_t uid)
{
    const passwd* user = ::getpwuid(uid);
    return user ? user->pw_name : std::to_string(uid);
}

}  // namespace restante
