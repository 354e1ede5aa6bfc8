#pragma once

#include "http/routing/routes.hpp"
#include "server/api/openapi/fragments.hpp"

#include <boost/json/object.hpp>

#include <span>
#include <string>
#include <vector>

namespace restante {

struct openapi_source {
    std::span<const route> routes;
    std::span<const embedded_schema> schemas;
    boost::json::object limits;  // of this server, by name
};

struct openapi_document {
    boost::json::object text;
    // What is missing or contradicts itself, in words for whoever adds a route. The document is served
    // nevertheless; a unit test demands that there is none.
    std::vector<std::string> faults;
};

// OpenAPI 3.1 of the routes: who may call them, and how they refuse, from the tables that decide it; what
// they take and answer from the openapi.json beside their handlers.
openapi_document make_openapi(const openapi_source& from);

}  // namespace restante
