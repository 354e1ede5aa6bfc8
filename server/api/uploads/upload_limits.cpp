// GET /uploads/limits
#include "http/session/request_context.hpp"
#include "server/api/uploads/services.hpp"
#include "server/api/uploads/upload.hpp"

#include <boost/json/object.hpp>

namespace restante {

awaitable<response> handle_upload_limits(request_context& req, upload_services& svc)
{
    const boost::json::object limits{{"per_file_bytes", svc.limits.file_bytes},
                                     {"per_request_bytes", svc.limits.request_bytes},
                                     {"max_attachments_per_message", svc.limits.files}};
    co_return req.json(http::status::ok, limits);
}

}  // namespace restante
