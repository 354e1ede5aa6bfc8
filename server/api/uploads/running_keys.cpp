#include "server/api/uploads/running_keys.hpp"

namespace restante {

running_keys::claim::~claim()
{
    if (!from_)
        return;
    const std::lock_guard lock(from_->guard_);
    from_->entries_.erase(entry_);
}

std::optional<running_keys::claim> running_keys::try_claim(const uuid& workspace,
                                                           const std::optional<std::string>& key)
{
    if (!key)
        return claim();
    std::string entry = to_string(workspace) + *key;
    const std::lock_guard lock(guard_);
    if (!entries_.insert(entry).second)
        return std::nullopt;
    return claim(*this, std::move(entry));
}

}  // namespace restante
