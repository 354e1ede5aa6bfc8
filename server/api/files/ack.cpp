// POST …/pending-uploads/{file_id}/ack and …/pending-uploads/ack: the workspace confirms that it has the
// file.
#include "core/log.hpp"
#include "core/secret_hash.hpp"
#include "http/session/request_context.hpp"
#include "server/api/files/ack_form.hpp"
#include "server/api/files/files.hpp"
#include "server/api/files/services.hpp"
#include "storage/pending_uploads.hpp"

#include <boost/json/array.hpp>

#include <unordered_map>

namespace restante {

namespace {

namespace json = boost::json;
using steady = std::chrono::steady_clock;

void log_acked(const request_context& req, const acked_file& file, steady::time_point begun)
{
    if (file.again)
        return;  // logged when it was first acked
    const std::chrono::duration<double, std::milli> took = steady::now() - begun;
    log_line(log_level::info, "upload_acked")
        .from(req.origin())
        .field("workspace_id", req.workspace_id())
        .field("file_id", file.what.file)
        .field("size", file.what.size)
        .field("name", file.what.filename)
        .field("mimetype", file.mimetype)
        .field("duration_ms", took.count())
        .field("remote", req.remote_text());
}

// The parsed bodies end with these: they may take many times the memory of their text, and must not be held
// while the database is asked.
awaitable<answerable<file_to_ack>> read_one(request_context& req)
{
    const auto text = co_await req.text_body();
    if (!text)
        co_return refusal(text.error());
    co_return read_ack(req.file_id(), *text);
}

awaitable<answerable<std::vector<file_to_ack>>> read_many(request_context& req)
{
    const auto body = co_await req.json_body();
    if (!body)
        co_return refusal(body.error());
    co_return read_ack_batch(*body);
}

}  // namespace

awaitable<response> handle_ack(request_context& req, files_services& svc)
{
    const auto begun = steady::now();
    const auto wanted = co_await read_one(req);
    if (!wanted)
        co_return req.fail(wanted.error());
    const std::span<const file_to_ack> only(&*wanted, 1);
    const auto acked = co_await svc.uploads.ack(req.workspace_id(), only);
    if (!acked)
        co_return req.fail(acked.error());
    if (acked->empty())
        co_return req.fail(errc::not_found);
    if (acked->front().mismatched)
        co_return req.fail(errc::digest_mismatch);
    log_acked(req, acked->front(), begun);
    const char* body = acked->front().raced ? "{\"acked\":true,\"raced\":true}" : "{\"acked\":true}";
    co_return req.json(http::status::ok, std::string(body));
}

awaitable<response> handle_ack_batch(request_context& req, files_services& svc)
{
    const auto begun = steady::now();
    const auto wanted = co_await read_many(req);
    if (!wanted)
        co_return req.fail(wanted.error());
    const auto acked = co_await svc.uploads.ack(req.workspace_id(), *wanted);
    if (!acked)
        co_return req.fail(acked.error());
    std::unordered_map<uuid, bool, secret_hash> found;
    for (const auto& file : *acked) {
        found.emplace(file.what.file, file.mismatched);
        if (!file.mismatched)
            log_acked(req, file, begun);
    }
    json::array done, not_found, mismatched;
    for (const auto& each : *wanted) {
        const auto at = found.find(each.file_id);
        auto& list = at == found.end() ? not_found : at->second ? mismatched : done;
        list.emplace_back(to_string(each.file_id));
    }
    json::object answer{{"acked", std::move(done)}, {"not_found", std::move(not_found)}};
    if (!mismatched.empty())
        answer["digest_mismatch"] = std::move(mismatched);
    co_return req.json(http::status::ok, answer);
}

}  // namespace restante
