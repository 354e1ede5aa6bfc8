#include "server/events/event_frame.hpp"

#include "core/json_text.hpp"

#include <algorithm>

namespace restante {

namespace {

// A body is JSON as its sender wrote it, perhaps over several lines. A line end in JSON can only be white
// space between two tokens, and a Server-Sent Event would end at it.
void append_body(std::string& out, std::string_view name, const std::optional<std::string_view>& json)
{
    if (!json)
        return;
    out += name;
    const auto begin = out.size();
    out += *json;
    std::replace_if(
        out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(),
        [](char c) { return c == '\n' || c == '\r'; }, ' ');
}

}  // namespace

std::size_t frame_size(const feed_row& row)
{
    constexpr std::size_t names_and_ids = 512;
    return names_and_ids + row.summary.value_or("").size() + row.request_body.value_or("").size() +
           row.response_body.value_or("").size();
}

void append_frame(std::string& out, const feed_row& row)
{
    out.reserve(out.size() + frame_size(row));
    append_member(out, R"({"event":"ACTIVITY_LOGGED","workspace_id":)", row.workspace_id);
    append_member(out, R"(,"timestamp":)", row.created_at);
    append_member(out, R"(,"payload":{"activity_type":)", row.activity_type);
    append_member(out, R"(,"method":)", row.method);
    append_member(out, R"(,"summary":)", row.summary);
    append_member(out, R"(,"status":)", row.status);
    append_member(out, R"(,"source_id":)", row.source_id);
    append_member(out, R"(,"target_id":)", row.target_id);
    append_member(out, R"(,"duration_ms":)", row.duration_ms);
    append_body(out, R"(,"request_body":)", row.request_body);
    append_body(out, R"(,"response_body":)", row.response_body);
    append_member(out, R"(,"id":)", row.id);
    append_member(out, R"(,"seq":)", row.seq);
    out += "}}";
}

feed_row view_of(const feed_entry& row)
{
    const activity& what = row.what;
    return {.id = what.id,
            .workspace_id = what.workspace_id,
            .activity_type = what.activity_type,
            .source_id = what.source_id,
            .target_id = what.target_id,
            .method = what.method,
            .summary = what.summary,
            .duration_ms = what.duration_ms,
            .status = what.status,
            .error_detail = what.error_detail,
            .created_at = row.created_at,
            .seq = row.seq,
            .request_body = what.request_body,
            .response_body = what.response_body,
            .tool_trace = what.tool_trace};
}

shared_event make_event(const feed_row& row, event_memory& memory)
{
    std::string text;
    append_frame(text, row);
    const auto bytes = text.capacity();
    return std::make_shared<const event>(
        event{row.seq, row.created_at, std::move(text), event_memory::share(memory, bytes)});
}

}  // namespace restante
