// POST /workspaces/{id}/activity: what a workspace reports of itself.
#include "server/api/inbox/activity_form.hpp"
#include "server/api/inbox/inbox.hpp"
#include "server/api/inbox/row_write.hpp"

namespace restante {

awaitable<response> handle_activity_report(request_context& req, inbox_services& svc)
{
    static constexpr row_route report{.read = read_activity_report, .answer = R"({"status":"logged"})"};
    return handle_row(req, svc, report);
}

}  // namespace restante
