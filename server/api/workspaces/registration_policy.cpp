#include "server/api/workspaces/registration_policy.hpp"

#include "cli/config_values.hpp"
#include "core/log.hpp"

#include <algorithm>

namespace restante {

namespace {

bool only_on_loopback(const settings& config)
{
    const auto inside = [](const host_port& address) { return is_loopback(address); };
    return std::all_of(config.listen.begin(), config.listen.end(), inside) &&
           std::all_of(config.listen_tls.begin(), config.listen_tls.end(), inside);
}

}  // namespace

bool registration_is_open(const settings& config)
{
    switch (config.registration) {
        case registration_policy::open: return true;
        case registration_policy::admin: return false;
        case registration_policy::automatic: break;
    }
    return config.dev || only_on_loopback(config);
}

open_registration registration_door(const settings& config)
{
    if (!registration_is_open(config))
        return open_registration::nobody;
    return config.registration == registration_policy::open ? open_registration::everybody
                                                            : open_registration::unless_forwarded;
}

void warn_about_registration(const settings& config)
{
    const bool open = registration_is_open(config);
    if (open && !only_on_loopback(config))
        log_line(log_level::warn, "registration_open")
            .field("reason",
                   "anybody who can reach this server can register a workspace; "
                   "--registration admin changes that");
    if (!open && config.admin_token.empty())
        log_line(log_level::warn, "registration_closed")
            .field("reason",
                   "registration takes the admin token and none is set; use --admin-token-file, or "
                   "`restante workspace add`");
}

}  // namespace restante
