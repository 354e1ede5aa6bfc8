#include "server/api/agents/profile_form.hpp"

#include "core/text.hpp"

#include <boost/json/object.hpp>

#include <algorithm>
#include <array>

namespace restante {

namespace {

namespace json = boost::json;
using optional_text = std::optional<std::string>;

constexpr std::size_t max_text = 255;
constexpr std::array<std::string_view, 5> for_admins{"tier", "parent_id", "runtime", "workspace_dir",
                                                     "compute"};

refusal bad(std::string sentence)
{
    return {errc::bad_request, std::move(sentence)};
}

// Absent where the member is; an empty text for null.
answerable<optional_text> short_text(const json::object& body, std::string_view name)
{
    const auto* value = body.if_contains(name);
    if (!value)
        return optional_text();
    if (value->is_null())
        return optional_text("");
    const auto* text = value->if_string();
    if (!text || text->size() > max_text || std::any_of(text->begin(), text->end(), is_ascii_control))
        return bad(std::string(name) + " must be a string of at most 255 bytes without control characters");
    return optional_text(std::string(*text));
}

// There is no hierarchy to hang a workspace into; what names a place in one is accepted, nonsense is not.
answerable<void> check_parent(const json::object& body, const uuid& workspace)
{
    const auto* parent = body.if_contains("parent_id");
    if (!parent)
        return {};
    if (body.contains("name"))
        return bad("parent_id and name must not be changed together");
    if (parent->is_null())
        return {};
    const auto id = parent->is_string() ? parse_uuid(parent->get_string()) : std::nullopt;
    if (!id || *id == workspace)
        return bad("parent_id must be the UUID of another workspace, or null");
    return {};
}

}  // namespace

answerable<profile_change> read_profile_change(const json::value& body, const uuid& workspace, bool is_admin)
{
    const auto* object = body.if_object();
    if (!object)
        return bad("the body must be a JSON object");
    const auto has = [object](std::string_view name) { return object->contains(name); };
    if (!is_admin && std::any_of(for_admins.begin(), for_admins.end(), has))
        return refusal(errc::forbidden,
                       "only the admin may change tier, parent_id, runtime, workspace_dir or compute");
    if (const auto checked = check_parent(*object, workspace); !checked)
        return checked.error();

    auto name = short_text(*object, "name");
    if (!name)
        return name.error();
    if (*name && (*name)->empty())
        return bad("name must not be empty");
    auto role = short_text(*object, "role");
    if (!role)
        return role.error();
    return profile_change{std::move(*name), std::move(*role)};
}

answerable<new_workspace> read_new_workspace(const json::value& body)
{
    const auto* object = body.if_object();
    if (!object)
        return bad("the body must be a JSON object");
    auto name = short_text(*object, "name");
    if (!name)
        return name.error();
    if (!*name || (*name)->empty())
        return bad("name is required");
    auto role = short_text(*object, "role");
    if (!role)
        return role.error();
    if (*role && (*role)->empty())
        role->reset();
    new_workspace made{.name = std::move(**name), .role = std::move(*role)};
    const auto* url = object->if_contains("url");
    if (!url || url->is_null() || *url == "")
        return made;
    if (!url->is_string())
        return bad("url must be a string");
    made.url = std::string(url->get_string());
    made.mode = delivery_mode::push;
    return made;
}

}  // namespace restante
