#include "server/api/inbox/activity_form.hpp"

#include "http/message/json_members.hpp"

#include <algorithm>

namespace restante {

namespace json = boost::json;

namespace {

// Takes the members of a report one by one and remembers the first that has to be refused. A member that is
// absent, null or an empty text counts as absent.
class report_reader {
public:
    explicit report_reader(const json::object& body) : body_(body) {}

    std::optional<std::string> text(std::string_view name)
    {
        const auto* value = find(name);
        if (!value)
            return std::nullopt;
        const auto* given = value->if_string();
        // A zero character is legal JSON and cannot be stored as text.
        if (!given || given->find('\0') != json::string::npos) {
            refuse(std::string(name) + " must be a string");
            return std::nullopt;
        }
        return given->empty() ? std::nullopt : std::optional(std::string(*given));
    }

    std::optional<uuid> id(std::string_view name)
    {
        const auto given = text(name);
        if (!given)
            return std::nullopt;
        const auto parsed = parse_uuid(*given);
        if (!parsed)
            refuse(std::string(name) + " must be a UUID");
        return parsed;
    }

    std::optional<std::int64_t> duration(std::string_view name)
    {
        const auto* value = find(name);
        if (!value)
            return std::nullopt;
        const auto* number = value->if_int64();
        if (!number || *number < 0) {
            refuse(std::string(name) + " must be a whole number of milliseconds");
            return std::nullopt;
        }
        return *number;
    }

    bool has(std::string_view name) const { return find(name) != nullptr; }

    void refuse(std::string sentence)
    {
        if (!refused_)
            refused_.emplace(errc::bad_request, std::move(sentence));
    }
    const std::optional<refusal>& refused() const { return refused_; }

private:
    const json::value* find(std::string_view name) const
    {
        const auto* value = body_.if_contains(name);
        return value && !value->is_null() ? value : nullptr;
    }

    const json::object& body_;
    std::optional<refusal> refused_;
};

std::string unknown_type()
{
    std::string sentence = "activity_type must be one of";
    for (const auto type : activity_types)
        sentence.append(sentence.ends_with("of") ? " " : ", ").append(type);
    return sentence;
}

std::optional<std::string> body_text(const report_reader& read, std::string_view text, std::string_view name)
{
    if (!read.has(name))
        return std::nullopt;
    return std::string(json_member(text, name).value());
}

void read_bodies(activity& row, const report_reader& read, std::string_view text)
{
    row.request_body = body_text(read, text, "request_body");
    row.response_body = body_text(read, text, "response_body");
    auto metadata = body_text(read, text, "metadata");
    (row.response_body ? row.tool_trace : row.response_body) = std::move(metadata);
}

}  // namespace

answerable<activity> read_activity_report(const uuid& workspace, std::string_view text,
                                          const json::value& body)
{
    const auto* object = body.if_object();
    if (!object)
        return refusal(errc::bad_request, "the body must be a JSON object");
    report_reader read(*object);
    activity row;
    row.id = make_uuid_v7();
    row.workspace_id = workspace;
    row.activity_type = read.text("activity_type").value_or("");
    if (std::find(activity_types.begin(), activity_types.end(), row.activity_type) == activity_types.end())
        read.refuse(unknown_type());
    row.method = read.text("method");
    row.summary = read.text("summary");
    row.target_id = read.id("target_id");
    row.source_id = read.id("source_id").value_or(workspace);  // NULL would say: the canvas
    row.status = read.text("status").value_or("ok");
    row.error_detail = read.text("error_detail");
    row.duration_ms = read.duration("duration_ms");
    if (read.refused())
        return *read.refused();
    if (row.source_id != workspace)
        return refusal(errc::forbidden, "source_id must be the workspace that reports");
    read_bodies(row, read, text);
    return row;
}

}  // namespace restante
