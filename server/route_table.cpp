#include "server/route_table.hpp"

#include "server/handlers/operations.hpp"

namespace restante {

namespace {

using enum boost::beast::http::verb;
using enum scope;

// A request that needs no body may still carry a small one (many clients send `{}`); it is read and
// forgotten.
constexpr std::uint64_t ignored_body = 64 * 1024;

// clang-format off
constexpr route api[] = {
    // method  pattern      who    body              cap           handler
    {get,      "/healthz",  open,  body_mode::none,  ignored_body, handle_healthz},
    {get,      "/readyz",   open,  body_mode::none,  ignored_body, handle_readyz},
    {get,      "/version",  open,  body_mode::none,  ignored_body, handle_version},
};

constexpr route operators[] = {
    {get,      "/metrics",  open,  body_mode::none,  ignored_body, handle_metrics},
    {get,      "/healthz",  open,  body_mode::none,  ignored_body, handle_healthz},
};
// clang-format on

}  // namespace

std::span<const route> public_routes()
{
    return api;
}

std::span<const route> metrics_routes()
{
    return operators;
}

}  // namespace restante
