#include "server/app/startup_warnings.hpp"

#include "core/log.hpp"
#include "server/api/workspaces/registration_policy.hpp"

#include <sys/stat.h>

namespace restante {

namespace {

// Not refused, as a TLS key is: servers run with such files already.
void warn_about_admin_token_file(const settings& config)
{
    struct stat info{};
    if (config.admin_token_file.empty() || ::stat(config.admin_token_file.c_str(), &info) != 0)
        return;
    if ((info.st_mode & S_IRWXO) != 0)
        log_line(log_level::warn, "admin_token_file_open")
            .field("file", config.admin_token_file)
            .field("reason", "every user of this machine can read the admin token; chmod 600 the file");
}

// Not refused either: smaller requests fit.
void warn_about_spool_limit(const settings& config)
{
    if (config.spool_limit / 2 >= config.max_request_bytes)
        return;
    log_line(log_level::warn, "spool_limit_small")
        .field("spool_limit", config.spool_limit)
        .field("max_request_bytes", config.max_request_bytes)
        .field("reason",
               "a workspace may have half of --spool-limit, and the largest request does not fit into that");
}

}  // namespace

void warn_about_limits(const settings& config)
{
    warn_about_spool_limit(config);
}

void warn_about_access(const settings& config)
{
    warn_about_registration(config);
    warn_about_admin_token_file(config);
}

}  // namespace restante
