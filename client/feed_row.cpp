#include "client/feed_row.hpp"

#include "client/json_member.hpp"
#include "core/file_names.hpp"

#include <boost/json/parse.hpp>

#include <algorithm>

namespace restante::client {

namespace {

namespace json = boost::json;

constexpr std::size_t most_rows = 500;  // what a server gives at most, however many are asked for

bool is_digest(std::string_view text)
{
    const auto hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    return text.size() == 64 && std::all_of(text.begin(), text.end(), hex);
}

std::optional<announced_file> file_of(const json::object& row)
{
    const auto* found = row.if_contains("request_body");
    if (text_member(row, "method") != "chat_upload_receive" || !found || !found->is_object())
        return std::nullopt;
    const auto& body = found->get_object();
    const auto id = parse_uuid(text_member(body, "file_id"));
    const auto* size = body.if_contains("size");
    if (!id || !size || !size->is_int64() || size->get_int64() < 0)
        return std::nullopt;
    const auto digest = text_member(body, "sha256");
    const auto* said = body.if_contains("sha256");
    const bool bad = said && !said->is_null() && !is_digest(digest);
    return announced_file{.id = *id,
                          .name = sanitize_filename(text_member(body, "name")),
                          .mime_type = std::string(text_member(body, "mimeType")),
                          .size = static_cast<std::uint64_t>(size->get_int64()),
                          .sha256 = std::string(bad ? "" : digest),
                          .bad_digest = bad};
}

// The agent's own words to its user (notify) come back in the same feed.
bool is_message(const json::object& row)
{
    const auto method = text_member(row, "method");
    return text_member(row, "activity_type") == "a2a_receive" && method != "notify" &&
           method != "chat_upload_receive" && row.contains("request_body");
}

failure no_page()
{
    return {exit_code::gave_up, "bad_answer", "The server's answer is not a page of the feed.", true};
}

}  // namespace

outcome<std::vector<feed_row>> parse_page(std::string_view body)
{
    boost::system::error_code ec;
    json::parse_options options;
    options.max_depth = 64;
    auto parsed = json::parse(body, ec, {}, options);
    if (ec || !parsed.is_array())
        return no_page();
    if (parsed.get_array().size() > most_rows)
        return no_page();
    std::vector<feed_row> rows;
    for (auto& each : parsed.get_array()) {
        if (!each.is_object())
            return no_page();
        feed_row row;
        row.json = std::move(each.get_object());
        const auto id = parse_uuid(text_member(row.json, "id"));
        if (!id)
            return no_page();
        row.id = *id;
        row.file = file_of(row.json);
        row.message = is_message(row.json);
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace restante::client
