#include "server/api/common/removed_workspace.hpp"

#include "storage/workspace_directory.hpp"

namespace restante {

refusal removed_refusal(const workspace_profile& removed)
{
    boost::json::object fields{
        {"id", to_string(removed.id)},
        {"hint", "this workspace was removed; create or register a new one and use its token"}};
    if (removed.removed_at)
        fields["removed_at"] = rfc3339(*removed.removed_at);
    return {errc::workspace_removed, std::move(fields)};
}

awaitable<refusal> find_removed_refusal(workspace_directory& directory, uuid workspace)
{
    const auto found = co_await directory.find(workspace);
    if (!found)
        co_return refusal(found.error());
    if (!*found)
        co_return refusal(errc::workspace_removed);
    co_return removed_refusal(**found);
}

}  // namespace restante
