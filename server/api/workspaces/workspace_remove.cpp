#include "auth/identity_notices.hpp"
#include "core/log.hpp"
#include "http/session/request_context.hpp"
#include "server/api/common/removed_workspace.hpp"
#include "server/api/workspaces/services.hpp"
#include "server/api/workspaces/workspaces.hpp"
#include "server/presence/presence_events.hpp"
#include "storage/workspace_directory.hpp"
#include "storage/workspaces.hpp"

namespace restante {

namespace {

// One that was removed before is told apart from one that never was.
refusal absent(const std::optional<workspace_profile>& found)
{
    return found ? removed_refusal(*found) : refusal(errc::workspace_not_found);
}

// A page can send header fields in ISO 8859-1 only: é is one byte then.
std::string from_latin1(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (code >= 0x80)
            out += static_cast<char>(0xC0 | code >> 6);
        out += static_cast<char>(code < 0x80 ? code : 0x80 | (code & 0x3F));
    }
    return out;
}

// Whoever names the workspace in X-Confirm-Name besides its id must name the right one.
awaitable<std::optional<refusal>> check_name(const request_context& req, workspaces_services& svc)
{
    const auto given = req.header("X-Confirm-Name");
    if (given.empty())
        co_return std::nullopt;
    const auto found = co_await svc.directory.find(req.workspace_id());
    if (!found)
        co_return refusal(found.error());
    if (!*found || (*found)->removed_at)
        co_return absent(*found);
    if (given == (*found)->name || from_latin1(given) == (*found)->name)
        co_return std::nullopt;
    // There is no hierarchy, and nothing else that would go with it.
    co_return refusal(errc::confirmation_required,
                      {{"hint", "X-Confirm-Name must be the name of the workspace"},
                       {"workspace_name", (*found)->name},
                       {"active_tasks", (*found)->active_tasks},
                       {"child_count", 0}});
}

awaitable<refusal> refusal_of(const error_code& why, uuid workspace, workspace_directory& directory)
{
    if (why != errc::workspace_not_found)
        co_return refusal(why);
    const auto found = co_await directory.find(workspace);
    if (!found)
        co_return refusal(found.error());
    co_return absent(*found);
}

}  // namespace

awaitable<response> handle_workspace_remove(request_context& req, workspaces_services& svc)
{
    const auto confirm = req.query().get("confirm");
    if (!confirm)
        co_return req.fail(confirm.error());
    if (*confirm != "true")
        co_return req.fail(
            refusal(errc::bad_request, "removal cannot be undone: confirm it with ?confirm=true"));

    if (const auto refused = co_await check_name(req, svc))
        co_return req.fail(*refused);
    const auto removed = co_await svc.workspaces.remove(req.workspace_id());
    if (!removed)
        co_return req.fail(co_await refusal_of(removed.error(), req.workspace_id(), svc.directory));
    svc.live.on_live_event(bare_event(req.workspace_id(), "WORKSPACE_REMOVED"));
    svc.notices.workspace_removed(req.workspace_id());
    log_line(log_level::info, "workspace_removed")
        .from(req.origin())
        .field("workspace_id", req.workspace_id())
        .field("remote", req.remote_text());
    co_return req.json(http::status::ok, std::string(R"({"status":"removed","cascade_deleted":0})"));
}

}  // namespace restante
