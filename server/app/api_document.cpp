#include "server/app/api_document.hpp"

#include "server/api/openapi/document.hpp"

#include <boost/json/serialize.hpp>

namespace restante {

body_limits body_limits_of(const settings& config)
{
    return {.upload = config.max_request_bytes, .message = config.max_message_bytes};
}

std::string make_api_document(const settings& config)
{
    const auto routes = public_routes(nullptr, body_limits_of(config), config.web == web_page::on);
    const auto made = make_openapi({.routes = routes,
                                    .schemas = embedded_schemas(),
                                    .limits = {{"file_bytes", config.max_file_bytes},
                                               {"request_bytes", config.max_request_bytes},
                                               {"files", config.max_files},
                                               {"parts", config.max_parts},
                                               {"message_bytes", config.max_message_bytes}}});
    return boost::json::serialize(made.text);
}

}  // namespace restante
