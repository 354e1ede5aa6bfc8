#include "server/events/event_frame.hpp"

#include "core/json_text.hpp"
#include "server/events/chat_event.hpp"
#include "server/messages/chat_message.hpp"

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

// Of a row that is a message. Uploads, which are most of the feed, are none.
std::optional<std::string> message_id_of(const feed_row& row)
{
    if (row.activity_type != "a2a_receive" || row.method == "chat_upload_receive" || !row.request_body)
        return std::nullopt;
    return message_id_in(*row.request_body);
}

std::size_t bodies_size(const feed_row& row)
{
    return row.request_body.value_or("").size() + row.response_body.value_or("").size();
}

std::size_t text_size(const feed_row& row)
{
    constexpr std::size_t names_and_ids = 512;
    return names_and_ids + row.summary.value_or("").size() + row.error_detail.value_or("").size() +
           bodies_size(row);
}

}  // namespace

std::size_t frame_size(const feed_row& row)
{
    return text_size(row) + (row.source_id ? 0 : bodies_size(row));
}

void append_frame(std::string& out, const feed_row& row)
{
    out.reserve(out.size() + text_size(row));
    append_member(out, R"({"event":"ACTIVITY_LOGGED","workspace_id":)", row.workspace_id);
    append_member(out, R"(,"timestamp":)", row.created_at);
    append_member(out, R"(,"payload":{"activity_type":)", row.activity_type);
    append_member(out, R"(,"method":)", row.method);
    append_member(out, R"(,"summary":)", row.summary);
    append_member(out, R"(,"status":)", row.status);
    append_member(out, R"(,"source_id":)", row.source_id);
    append_member(out, R"(,"target_id":)", row.target_id);
    append_member(out, R"(,"duration_ms":)", row.duration_ms);
    if (row.error_detail)
        append_member(out, R"(,"error_detail":)", *row.error_detail);
    if (const auto message = message_id_of(row))
        append_member(out, R"(,"message_id":)", *message);
    append_body(out, R"(,"request_body":)", row.request_body);
    append_body(out, R"(,"response_body":)", row.response_body);
    if (row.bodies_left_out)
        out += R"(,"bodies_omitted":true)";
    append_member(out, R"(,"id":)", row.id);
    append_member(out, R"(,"seq":)", row.seq);
    out += "}}";
}

feed_row view_of(const feed_entry& row)
{
    const activity& what = row.what;
    const auto length = [](const std::optional<std::string>& body) { return body ? body->size() : 0; };
    const auto bytes = length(what.request_body) + length(what.response_body) + length(what.tool_trace);
    feed_row view{.id = what.id,
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
    if (bytes > static_cast<std::size_t>(largest_in_frame)) {
        view.bodies_left_out = true;
        view.request_body.reset();
        view.response_body.reset();
        view.tool_trace.reset();
    }
    return view;
}

shared_event make_event(const feed_row& row, event_memory& memory)
{
    std::string text;
    append_frame(text, row);
    auto chat = make_chat_event(row);
    const auto bytes = text.capacity() + chat.capacity();
    return std::make_shared<const event>(
        event{row.seq, row.created_at, std::move(text), std::move(chat), event_memory::share(memory, bytes)});
}

std::size_t frame_size(const live_event& what)
{
    constexpr std::size_t names_and_ids = 160;
    return names_and_ids + what.name.size() + what.payload.size();
}

shared_event make_event(const live_event& what, event_memory& memory)
{
    std::string text;
    text.reserve(frame_size(what));
    append_member(text, R"({"event":)", what.name);
    append_member(text, R"(,"workspace_id":)", what.workspace);
    append_member(text, R"(,"timestamp":)", what.at);
    text += R"(,"payload":)";
    text += what.payload;
    text += '}';
    const auto bytes = text.capacity();
    return std::make_shared<const event>(
        event{0, what.at, std::move(text), {}, event_memory::share(memory, bytes)});
}

}  // namespace restante
