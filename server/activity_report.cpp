#include "server/activity_report.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>

namespace restante {

namespace {

namespace json = boost::json;

constexpr std::string_view known_types[] = {"a2a_send",        "a2a_receive",  "task_update", "agent_log",
                                            "skill_promotion", "memory_write", "error"};

refusal unknown_type()
{
    std::string sentence = "activity_type must be one of";
    for (const auto type : known_types)
        (sentence += sentence.ends_with("of") ? " " : ", ") += type;
    return {errc::bad_request, std::move(sentence)};
}

// Takes members one by one and remembers the first that is of the wrong kind.
class member_reader {
public:
    explicit member_reader(const json::object& from) : from_(from) {}

    std::optional<std::string> text(std::string_view name)
    {
        const auto* value = present(name);
        if (!value)
            return std::nullopt;
        if (const auto* string = value->if_string())
            return std::string(*string);
        refuse(name, "a string");
        return std::nullopt;
    }

    std::optional<uuid> id(std::string_view name)
    {
        const auto given = text(name);
        if (!given || given->empty())
            return std::nullopt;
        const auto parsed = parse_uuid(*given);
        if (!parsed)
            refuse(name, "a UUID");
        return parsed;
    }

    std::optional<std::int64_t> number(std::string_view name)
    {
        const auto* value = present(name);
        if (!value)
            return std::nullopt;
        if (const auto* whole = value->if_int64())
            return *whole;
        refuse(name, "a whole number");
        return std::nullopt;
    }

    std::optional<std::string> any(std::string_view name)
    {
        const auto* value = present(name);
        return value ? std::optional<std::string>(json::serialize(*value)) : std::nullopt;
    }

    const std::optional<refusal>& refused() const { return refused_; }

private:
    const json::value* present(std::string_view name) const
    {
        const auto* value = from_.if_contains(name);
        return value && !value->is_null() ? value : nullptr;
    }

    void refuse(std::string_view name, std::string_view kind)
    {
        if (!refused_)
            refused_ = refusal(errc::bad_request, std::string(name) + " must be " + std::string(kind));
    }

    const json::object& from_;
    std::optional<refusal> refused_;
};

}  // namespace

answerable<activity> read_activity_report(const uuid& workspace, const json::value& body)
{
    const auto* object = body.if_object();
    if (!object)
        return refusal(errc::malformed_json);
    member_reader members(*object);
    activity row;
    row.id = make_uuid_v7();
    row.workspace_id = workspace;
    row.activity_type = members.text("activity_type").value_or("");
    row.source_id = members.id("source_id");
    row.target_id = members.id("target_id");
    row.method = members.text("method");
    row.summary = members.text("summary");
    row.status = members.text("status").value_or("ok");
    row.error_detail = members.text("error_detail");
    row.duration_ms = members.number("duration_ms");
    row.request_body = members.any("request_body");
    row.response_body = members.any("response_body");
    row.tool_trace = members.any("metadata");
    if (members.refused())
        return *members.refused();
    if (std::find(std::begin(known_types), std::end(known_types), row.activity_type) == std::end(known_types))
        return unknown_type();
    if (row.source_id && *row.source_id != workspace)
        return refusal(errc::forbidden, "source_id must be the workspace's own id");
    row.source_id = workspace;
    return row;
}

answerable<activity> read_a2a_message(const uuid& workspace, const json::value& body)
{
    const auto* object = body.if_object();
    if (!object)
        return refusal(errc::malformed_json);
    member_reader members(*object);
    activity row;
    row.id = make_uuid_v7();
    row.workspace_id = workspace;
    row.activity_type = "a2a_receive";
    row.target_id = workspace;
    row.method = members.text("method");
    if (members.refused() || !row.method || row.method->empty())
        return refusal(errc::bad_request, "method must be a string that is not empty");
    row.summary = row.method;
    row.request_body = json::serialize(body);
    return row;
}

}  // namespace restante
