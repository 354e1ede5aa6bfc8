#pragma once

#include "http/routing/routes.hpp"
#include "server/api/files/services.hpp"
#include "server/api/inbox/services.hpp"
#include "server/api/operations/services.hpp"
#include "server/api/push/services.hpp"
#include "server/api/uploads/services.hpp"
#include "server/api/workspaces/services.hpp"

#include <vector>

namespace restante {

// What the handlers of one shard work with, by room. A handler sees its own room's part only.
struct api_services {
    operations_services operations;
    workspaces_services workspaces;
    push_services push;
    upload_services uploads;
    files_services files;
    inbox_services inbox;
};

// The whole API, and the operator's listener beside it. The services must outlive the routes.
std::vector<route> public_routes(api_services& svc);
std::vector<route> operator_routes(api_services& svc);

}  // namespace restante
