#include "server/api/workspaces/quota_form.hpp"

namespace restante {

namespace {

namespace json = boost::json;

using member = std::optional<std::optional<std::int64_t>>;

// False when it is there and neither null nor a whole number from 0 on.
bool read_member(const json::object& from, std::string_view name, member& to)
{
    const auto* given = from.if_contains(name);
    if (!given)
        return true;
    if (given->is_null()) {
        to.emplace();
        return true;
    }
    const auto* number = given->if_int64();
    if (!number || *number < 0)
        return false;
    to.emplace(*number);
    return true;
}

json::value or_null(const std::optional<std::int64_t>& number)
{
    return number ? json::value(*number) : json::value(nullptr);
}

}  // namespace

answerable<quota_change> read_quota_change(const json::value& body)
{
    const auto* object = body.if_object();
    quota_change asked;
    if (!object || !read_member(*object, "max_bytes", asked.bytes) ||
        !read_member(*object, "max_files", asked.files))
        return refusal(errc::bad_request,
                       "max_bytes and max_files must be whole numbers, 0 for no limit, or null");
    return asked;
}

json::object quota_json(const workspace_quota& now)
{
    return {{"max_bytes", now.limits.bytes},
            {"max_files", now.limits.files},
            {"used_bytes", now.used.bytes},
            {"used_files", now.used.files},
            {"own", {{"max_bytes", or_null(now.own.bytes)}, {"max_files", or_null(now.own.files)}}}};
}

}  // namespace restante
