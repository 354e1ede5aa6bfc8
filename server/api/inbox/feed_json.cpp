#include "server/api/inbox/feed_json.hpp"

#include "core/json_text.hpp"
#include "server/messages/attachments.hpp"

namespace restante {

namespace {

void append_body(std::string& out, std::string_view name, const std::optional<std::string_view>& json)
{
    if (!json)
        return;
    out += name;
    out += *json;
}

void append_files(std::string& out, std::string_view request_body)
{
    const auto files = attachments_of(request_body);
    if (files.empty())
        return;
    std::string_view separator = R"(,"attachments":[{"kind":)";
    for (const auto& file : files) {
        append_member(out, separator, file.kind);
        append_member(out, R"(,"uri":)", file.uri);
        if (file.mime_type)
            append_member(out, R"(,"mime_type":)", *file.mime_type);
        if (file.name)
            append_member(out, R"(,"name":)", *file.name);
        separator = R"(},{"kind":)";
    }
    out += "}]";
}

void append_peer_info(std::string& out, const feed_row& row, const peer_info_at& at)
{
    if (row.peer_name)
        append_member(out, R"(,"peer_name":)", *row.peer_name);
    if (row.peer_role)
        append_member(out, R"(,"peer_role":)", *row.peer_role);
    if (row.source_id && row.source_id != row.workspace_id)
        append_member(out, R"(,"agent_card_url":)",
                      at.base + "/registry/discover/" + to_string(*row.source_id));
    if (row.request_body)
        append_files(out, *row.request_body);
}

}  // namespace

void append_feed_row(std::string& out, const feed_row& row, const peer_info_at* with_peers)
{
    append_member(out, R"({"id":)", row.id);
    append_member(out, R"(,"workspace_id":)", row.workspace_id);
    append_member(out, R"(,"activity_type":)", row.activity_type);
    append_member(out, R"(,"source_id":)", row.source_id);
    append_member(out, R"(,"target_id":)", row.target_id);
    append_member(out, R"(,"method":)", row.method);
    append_member(out, R"(,"summary":)", row.summary);
    append_member(out, R"(,"duration_ms":)", row.duration_ms);
    append_member(out, R"(,"status":)", row.status);
    append_member(out, R"(,"error_detail":)", row.error_detail);
    append_member(out, R"(,"created_at":)", row.created_at);
    append_member(out, R"(,"seq":)", row.seq);
    append_body(out, R"(,"request_body":)", row.request_body);
    append_body(out, R"(,"response_body":)", row.response_body);
    append_body(out, R"(,"tool_trace":)", row.tool_trace);
    if (with_peers)
        append_peer_info(out, row, *with_peers);
    out += '}';
}

result<std::string> feed_json(const feed_page& page, const peer_info_at* with_peers)
{
    // The names and punctuation of a row that the database does not send.
    constexpr std::size_t overhead = 320;
    std::string out;
    out.reserve(page.memory() + static_cast<std::size_t>(page.size()) * overhead + 2);
    out += '[';
    for (int i = 0; i < page.size(); ++i) {
        const auto row = page[i];
        if (!row)
            return row.error();
        if (i > 0)
            out += ',';
        append_feed_row(out, *row, with_peers);
    }
    out += ']';
    return out;
}

}  // namespace restante
