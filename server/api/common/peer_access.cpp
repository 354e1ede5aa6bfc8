#include "server/api/common/peer_access.hpp"

#include <algorithm>
#include <array>

namespace restante {

namespace {

constexpr std::array<std::string_view, 4> reserved{"webhook:", "system:", "test:", "channel:"};

bool is_reserved(std::string_view claimed)
{
    return std::any_of(reserved.begin(), reserved.end(),
                       [&](std::string_view prefix) { return claimed.starts_with(prefix); });
}

}  // namespace

result<void> check_claimed_workspace(const principal& who, std::string_view claimed)
{
    if (is_reserved(claimed))
        return RESTANTE_ERROR(errc::forbidden);
    if (claimed.empty() || who.opens_every_workspace())
        return {};
    if (who.kind != principal_kind::workspace || parse_uuid(claimed) != who.workspace.id)
        return RESTANTE_ERROR(errc::invalid_token);
    return {};
}

std::optional<uuid> speaking_peer(const principal& who, const uuid& target)
{
    if (who.kind == principal_kind::workspace && who.workspace.id != target)
        return who.workspace.id;
    return std::nullopt;
}

}  // namespace restante
