#include "server/api/inbox/notify_form.hpp"

#include "core/json_text.hpp"
#include "core/text.hpp"
#include "core/utf8.hpp"

#include <algorithm>

namespace restante {

namespace json = boost::json;

namespace {

constexpr std::size_t most_files = 64;
constexpr std::size_t summary_characters = 80;
constexpr std::string_view pending_scheme = "platform-pending:";
constexpr std::string_view content_path = "/workspaces/";

const json::string* text_at(const json::object& in, std::string_view key)
{
    const auto* value = in.if_contains(key);
    const auto* text = value ? value->if_string() : nullptr;
    return text && !text->empty() ? text : nullptr;
}

std::int64_t size_at(const json::object& in)
{
    const auto* value = in.if_contains("size");
    const auto* size = value ? value->if_int64() : nullptr;
    return size ? *size : 0;
}

// A zero character cannot be stored as text.
std::string summary_of(std::string_view message)
{
    std::string out = "Agent message: ";
    std::size_t characters = 0;
    for (; !message.empty() && characters < summary_characters; ++characters) {
        const auto length = std::max<std::size_t>(utf8_length(message), 1);
        if (message.front() != '\0')
            out += message.substr(0, length);
        message.remove_prefix(length);
    }
    if (!message.empty())
        out += "…";
    return out;
}

bool is_foreign_pending(std::string_view uri, const uuid& workspace)
{
    if (!istarts_with(uri, pending_scheme))
        return false;
    const auto path = uri.substr(pending_scheme.size());
    const auto slash = path.find('/');
    return slash == std::string_view::npos || parse_uuid(path.substr(0, slash)) != workspace ||
           !parse_uuid(path.substr(slash + 1));
}

// Canvases take /workspaces/<id>/content/<file>/content, whatever its query, for the same file.
bool is_foreign_path(std::string_view uri, const uuid& workspace)
{
    if (!uri.starts_with(content_path))
        return false;
    const auto path = uri.substr(0, uri.find_first_of("?#")).substr(content_path.size());
    const auto slash = std::min(path.find('/'), path.size());
    return path.substr(slash).starts_with("/content/") && parse_uuid(path.substr(0, slash)) != workspace;
}

refusal refuse_attachment(std::size_t index, std::string_view why)
{
    return {errc::bad_request, "attachment[" + std::to_string(index) + "]: " + std::string(why)};
}

std::optional<refusal> append_part(std::string& out, const json::value& file, std::size_t index,
                                   const uuid& workspace)
{
    const auto* object = file.if_object();
    const auto* uri = object ? text_at(*object, "uri") : nullptr;
    const auto* name = object ? text_at(*object, "name") : nullptr;
    if (!uri || !name)
        return refuse_attachment(index, "uri and name are required");
    if (is_foreign_pending(*uri, workspace) || is_foreign_path(*uri, workspace))
        return refuse_attachment(index, "a platform-pending: uri must name a file of this workspace");
    out += index == 0 ? "" : ",";
    append_member(out, R"({"kind":"file","file":{"uri":)", std::string_view(*uri));
    append_member(out, R"(,"name":)", std::string_view(*name));
    if (const auto* type = text_at(*object, "mimeType"))
        append_member(out, R"(,"mimeType":)", std::string_view(*type));
    if (const auto size = size_at(*object); size > 0)
        append_member(out, R"(,"size":)", size);
    out += "}}";
    return std::nullopt;
}

std::optional<refusal> append_parts(std::string& out, const json::value& given, const uuid& workspace)
{
    if (given.is_null())
        return std::nullopt;
    const auto* files = given.if_array();
    if (!files || files->size() > most_files)
        return refusal(errc::bad_request, "attachments must be a list of at most 64 files");
    if (files->empty())
        return std::nullopt;
    out += R"(,"parts":[)";
    for (std::size_t i = 0; i < files->size(); ++i)
        if (auto refused = append_part(out, (*files)[i], i, workspace))
            return refused;
    out += ']';
    return std::nullopt;
}

}  // namespace

answerable<activity> read_notice(const uuid& workspace, std::string_view, const json::value& body)
{
    const auto* object = body.if_object();
    const auto* message = object ? text_at(*object, "message") : nullptr;
    if (!message)
        return refusal(errc::bad_request, "message is required");
    std::string said;
    append_member(said, R"({"result":)", std::string_view(*message));
    if (const auto* files = object->if_contains("attachments"))
        if (auto refused = append_parts(said, *files, workspace))
            return std::move(*refused);
    said += '}';

    activity row;
    row.id = make_uuid_v7();
    row.workspace_id = workspace;
    row.activity_type = "a2a_receive";
    row.method = "notify";
    row.summary = summary_of(*message);
    row.response_body = std::move(said);
    return row;
}

}  // namespace restante
