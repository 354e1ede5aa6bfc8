// POST …/pending-uploads/{file_id}/ack and …/pending-uploads/ack: the workspace confirms that it has the
// file.
#include "core/log.hpp"
#include "http/session/request_context.hpp"
#include "server/api/files/files.hpp"
#include "server/api/files/services.hpp"
#include "storage/pending_uploads.hpp"

#include <boost/json/array.hpp>

#include <algorithm>
#include <unordered_set>

namespace restante {

namespace {

namespace json = boost::json;
using steady = std::chrono::steady_clock;

constexpr std::size_t most_at_once = 500;

void log_acked(const request_context& req, const acked_file& file, steady::time_point begun)
{
    if (file.again)
        return;  // logged when it was first acked
    const std::chrono::duration<double, std::milli> took = steady::now() - begun;
    log_line(log_level::info, "upload_acked")
        .field("request_id", req.id())
        .field("workspace_id", req.workspace_id())
        .field("file_id", file.file_id)
        .field("size", file.size)
        .field("name", file.filename)
        .field("mimetype", file.mimetype)
        .field("duration_ms", took.count())
        .field("remote", req.remote_text());
}

answerable<std::vector<uuid>> read_file_ids(const json::value& body)
{
    const auto* object = body.if_object();
    const auto* given = object ? object->if_contains("file_ids") : nullptr;
    const auto* list = given ? given->if_array() : nullptr;
    if (!list || list->size() > most_at_once)
        return refusal(errc::bad_request, "file_ids must be a list of at most 500 ids");
    std::vector<uuid> ids;
    for (const auto& item : *list) {
        const auto* text = item.if_string();
        const auto id = text ? parse_uuid(*text) : std::nullopt;
        if (!id)
            return refusal(errc::invalid_file_id);
        if (std::find(ids.begin(), ids.end(), *id) == ids.end())  // named twice, acked once
            ids.push_back(*id);
    }
    return ids;
}

// The parsed body ends with this: it may take many times the memory of its text, and must not be held while
// the database is asked.
awaitable<answerable<std::vector<uuid>>> read_body(request_context& req)
{
    const auto body = co_await req.json_body();
    if (!body)
        co_return refusal(body.error());
    co_return read_file_ids(*body);
}

}  // namespace

awaitable<response> handle_ack(request_context& req, files_services& svc)
{
    const auto begun = steady::now();
    const uuid wanted[] = {req.file_id()};
    const auto acked = co_await svc.uploads.ack(req.workspace_id(), wanted);
    if (!acked)
        co_return req.fail(acked.error());
    if (acked->empty())
        co_return req.fail(errc::not_found);
    log_acked(req, acked->front(), begun);
    const char* body = acked->front().raced ? "{\"acked\":true,\"raced\":true}" : "{\"acked\":true}";
    co_return req.json(http::status::ok, std::string(body));
}

awaitable<response> handle_ack_batch(request_context& req, files_services& svc)
{
    const auto begun = steady::now();
    const auto ids = co_await read_body(req);
    if (!ids)
        co_return req.fail(ids.error());
    const auto acked = co_await svc.uploads.ack(req.workspace_id(), *ids);
    if (!acked)
        co_return req.fail(acked.error());
    std::unordered_set<uuid, uuid_hash> found;
    for (const auto& file : *acked) {
        found.insert(file.file_id);
        log_acked(req, file, begun);
    }
    json::array done, not_found;
    for (const auto& id : *ids)
        (found.contains(id) ? done : not_found).emplace_back(to_string(id));
    const json::object answer{{"acked", std::move(done)}, {"not_found", std::move(not_found)}};
    co_return req.json(http::status::ok, answer);
}

}  // namespace restante
