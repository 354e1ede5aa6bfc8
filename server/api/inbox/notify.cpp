// POST /workspaces/{id}/notify: an agent speaks to its user.
#include "server/api/inbox/inbox.hpp"
#include "server/api/inbox/notify_form.hpp"
#include "server/api/inbox/row_write.hpp"

namespace restante {

awaitable<response> handle_notify(request_context& req, inbox_services& svc)
{
    static constexpr row_route notice{.read = read_notice,
                                      .answer = R"({"status":"sent"})",
                                      .not_json = "message is required"};
    return handle_row(req, svc, notice);
}

}  // namespace restante
