#include "server/events/chat_event.hpp"

#include "core/json_text.hpp"
#include "server/messages/chat_message.hpp"

namespace restante {

namespace {

std::string begin_event(std::string_view name, const feed_row& row)
{
    std::string out;
    append_member(out, R"({"event":)", name);
    append_member(out, R"(,"workspace_id":)", row.workspace_id);
    append_member(out, R"(,"timestamp":)", row.created_at);
    append_member(out, R"(,"payload":{"workspace_id":)", row.workspace_id);
    return out;
}

void end_event(std::string& out, const chat_message& said)
{
    if (!said.attachments.empty()) {
        out += R"(,"attachments":)";
        append_attachments(out, said.attachments);
    }
    out += "}}";
}

// The id of the row lets a client that reconnects tell a notice that it has shown already.
std::string agent_event(const feed_row& row, const chat_message& said)
{
    auto out = begin_event("AGENT_MESSAGE", row);
    append_member(out, R"(,"message":)", said.content);
    append_member(out, R"(,"message_id":)", row.id);
    end_event(out, said);
    return out;
}

std::string user_event(const feed_row& row, const chat_message& said)
{
    auto out = begin_event("USER_MESSAGE", row);
    append_member(out, R"(,"message_id":)", said.id);
    append_member(out, R"(,"role":"user","content":)", said.content);
    end_event(out, said);
    return out;
}

}  // namespace

// Rows without a source come from the canvas, or are notices: a workspace cannot write one under a method of
// its choice, because what it reports has itself as the source.
std::string make_chat_event(const feed_row& row)
{
    if (row.activity_type != "a2a_receive" || row.source_id)
        return {};
    if (row.method == "notify" && row.response_body) {
        if (const auto said = agent_message_in(*row.response_body))
            return agent_event(row, *said);
    }
    if (row.request_body && row.method != "chat_upload_receive") {
        if (const auto said = user_message_in(*row.request_body))
            return user_event(row, *said);
    }
    return {};
}

}  // namespace restante
