// GET /admin/workspaces: every workspace with what waits for it, page by page.
#include "core/json_text.hpp"
#include "core/log.hpp"
#include "http/message/query_reader.hpp"
#include "http/session/request_context.hpp"
#include "server/api/admin/admin.hpp"
#include "server/api/admin/page_mark.hpp"
#include "server/api/admin/services.hpp"

namespace restante {

namespace {

constexpr int default_limit = 50;
constexpr int max_limit = 200;

std::optional<waiting_order> parse_order(std::string_view text)
{
    if (text == "oldest")
        return waiting_order::oldest;
    if (text == "bytes")
        return waiting_order::bytes;
    if (text == "name")
        return waiting_order::name;
    return std::nullopt;
}

void append_workspace(std::string& out, const waiting_workspace& each, const quota_limits& defaults)
{
    append_member(out, "{\"id\":", each.id);
    append_member(out, ",\"name\":", each.name.empty() ? to_string(each.id) : each.name);
    append_member(out, ",\"delivery_mode\":", each.mode);
    append_member(out, ",\"status\":", each.status);
    append_member(out, ",\"files\":", each.files);
    append_member(out, ",\"bytes\":", each.bytes);
    append_member(out, ",\"oldest_at\":", each.oldest_at);
    out += each.estimated ? ",\"estimated\":true" : ",\"estimated\":false";
    append_member(out, ",\"last_seen_at\":", each.last_seen_at);
    append_member(out, ",\"max_bytes\":", each.max_bytes.value_or(defaults.bytes));
    append_member(out, ",\"max_files\":", each.max_files.value_or(defaults.files));
    out += each.max_bytes || each.max_files ? ",\"own_quota\":true}" : ",\"own_quota\":false}";
}

}  // namespace

awaitable<response> handle_admin_workspaces(request_context& req, admin_services& svc)
{
    query_reader query(req.query());
    const int limit = query.limit(default_limit, max_limit);
    const auto order =
        query.value("order", "oldest, bytes or name", parse_order).value_or(waiting_order::oldest);
    const auto after = query.value("after", "the `next` of the page before", parse_page_mark);
    if (query.refused())
        co_return req.fail(*query.refused());
    // Only the first page moves the list on: those that follow should belong to it. A step that takes too
    // long leaves the list as it was, and `counted_at` says how old that is.
    if (!after) {
        const auto refreshed = co_await svc.waiting.refresh();
        if (!refreshed)
            log_line(log_level::warn, "waiting_list_not_refreshed").failure(refreshed.error());
    }
    const auto counted_at = co_await svc.waiting.counted_at();
    if (!counted_at)
        co_return req.fail(counted_at.error());
    const auto page = co_await svc.waiting.page(order, after, limit);
    if (!page)
        co_return req.fail(page.error());

    std::string text = "{\"workspaces\":[";
    for (const auto& each : *page) {
        if (text.back() == '}')
            text += ',';
        append_workspace(text, each, svc.quotas);
    }
    std::optional<std::string> next;
    if (static_cast<int>(page->size()) == limit)
        next = write_page_mark(page->back().place(order));
    append_member(text, "],\"next\":", next);
    append_member(text, ",\"counted_at\":", *counted_at);
    text += '}';
    co_return req.list(std::move(text));
}

}  // namespace restante
