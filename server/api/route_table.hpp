#pragma once

#include "http/routing/routes.hpp"
#include "server/api/admin/services.hpp"
#include "server/api/agents/services.hpp"
#include "server/api/files/services.hpp"
#include "server/api/grants/services.hpp"
#include "server/api/inbox/services.hpp"
#include "server/api/operations/services.hpp"
#include "server/api/page/services.hpp"
#include "server/api/push/services.hpp"
#include "server/api/receipts/services.hpp"
#include "server/api/uploads/services.hpp"
#include "server/api/workspaces/services.hpp"

#include <vector>

namespace restante {

// What the handlers of one shard work with, by room. A handler sees its own room's part only.
struct api_services {
    operations_services operations;
    workspaces_services workspaces;
    grants_services grants;
    push_services push;
    upload_services uploads;
    files_services files;
    receipts_services receipts;
    inbox_services inbox;
    agents_services agents;
    admin_services admin;
    page_services page;
};

// How large the bodies may be that settings limit.
struct body_limits {
    std::uint64_t upload = 0;  // of the files, without the framing of their form
    std::uint64_t message = 0;
};

// The whole API, and the operator's listener beside it. The services must outlive the routes; without them
// the routes have no handlers, for those who only want to know which there are.
std::vector<route> public_routes(api_services* svc, const body_limits& limits = {}, bool with_page = true);
std::vector<route> operator_routes(api_services* svc);

}  // namespace restante
