#include "cli/reload.hpp"

namespace restante {

settings_change compare_settings(const settings& now, const settings& next)
{
    settings_change out;
    const option* token_file = find_option("admin-token-file");
    for (const auto& o : option_table()) {
        const bool new_token = &o == token_file && now.admin_token != next.admin_token;
        if (new_token || !is_same(now, next, o))
            (o.reloads ? out.applied : out.needs_restart).push_back(o.flag);
    }
    return out;
}

settings with_reloaded(settings now, const settings& next)
{
    for (const auto& o : option_table())
        if (o.reloads)
            std::visit([&](auto member) { now.*member = next.*member; }, o.member);
    now.admin_token = next.admin_token;
    return now;
}

std::string list_of(const std::vector<std::string_view>& flags)
{
    std::string out;
    for (const auto flag : flags)
        out.append(out.empty() ? "" : ", ").append(flag);
    return out;
}

}  // namespace restante
