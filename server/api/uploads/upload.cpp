#include "server/api/uploads/upload.hpp"

#include "auth/authenticator.hpp"
#include "core/fault_point.hpp"
#include "core/log.hpp"
#include "server/api/common/caller.hpp"
#include "server/api/common/delivery.hpp"
#include "server/api/common/idempotency.hpp"
#include "server/api/push/forward.hpp"
#include "server/api/uploads/running_keys.hpp"
#include "server/api/uploads/services.hpp"
#include "server/api/uploads/upload_answer.hpp"
#include "server/api/uploads/upload_form.hpp"
#include "server/api/uploads/upload_metrics.hpp"

namespace restante {

namespace {

using steady = std::chrono::steady_clock;

response reject(const request_context& req, upload_services& svc, const refusal& why)
{
    svc.metrics.count_rejected(why.code);
    log_line(log_level::info, "upload_rejected")
        .field("request_id", req.id())
        .field("workspace_id", req.workspace_id())
        .field("code", public_error_of(why.code).code)
        .field("remote", req.remote_text());
    return req.fail(why);
}

// One line a file, for the operator who searches for it.
void log_staged(const request_context& req, std::span<const new_file> files, steady::time_point begun)
{
    const std::chrono::duration<double, std::milli> took = steady::now() - begun;
    for (const auto& file : files) {
        log_line(log_level::info, "upload_staged")
            .field("request_id", req.id())
            .field("workspace_id", req.workspace_id())
            .field("file_id", file.file_id)
            .field("size", file.content->size())
            .field("name", file.filename)
            .field("mimetype", file.mimetype)
            .field("duration_ms", took.count())
            .field("remote", req.remote_text());
    }
}

// Room for the whole body, if its length is known and it may not fit into memory.
result<std::shared_ptr<disk_claim>> claim_disk(request_context& req, upload_services& svc)
{
    auto claim = std::make_shared<disk_claim>(svc.spools, req.workspace_id());
    const auto announced = req.body().announced();
    if (announced > spool::memory_limit && !claim->reserve(announced))
        return RESTANTE_ERROR(errc::no_room);
    return claim;
}

}  // namespace

awaitable<response> handle_upload(request_context& req, upload_services& svc)
{
    const auto begun = steady::now();
    const form_limits& limits = svc.limits;
    req.body().set_cap(limits.request_bytes + framing_allowance);
    auto head = check_upload_head(req, limits);
    if (!head)
        co_return reject(req, svc, head.error());
    fault_point("header_parsed");
    auto workspace = co_await svc.auth.workspace_for(caller_of(req), req.workspace_id());
    if (!workspace)
        co_return reject(req, svc, workspace.error());
    const auto way = decide_delivery(*workspace);
    if (!way)
        co_return reject(req, svc, way.error());
    if (*way == delivery::forward)
        co_return co_await forward_upload(req, svc.push, limits.request_bytes);
    const auto disk = claim_disk(req, svc);
    if (!disk)
        co_return reject(req, svc, disk.error());
    const auto claim = svc.keys.try_claim(req.workspace_id(), head->key);
    if (!claim)
        co_return reject(req, svc, errc::idempotency_key_running);

    auto files = co_await read_form(req.body(), head->separator, limits, *disk);
    if (!files)
        co_return reject(req, svc, files.error());
    fault_point("body_parsed");

    auto load =
        make_upload(req.workspace_id(), token_of(caller_of(req)), std::move(*files), std::move(head->key));
    const auto staged_files = load.files;
    const auto answer = load.answer;
    auto stored = co_await svc.stage.stage(std::move(load));
    if (!stored)
        co_return reject(req, svc, refusal_of_write(stored.error()));

    if (stored->earlier_answer) {
        auto again = req.json(http::status::ok, fill_in_expiry(*stored->earlier_answer, stored->expires_at));
        mark_as_replay(again);
        co_return again;
    }
    svc.metrics.count_staged(staged_files);
    log_staged(req, staged_files, begun);
    co_return req.json(http::status::ok, fill_in_expiry(*answer, stored->expires_at));
}

}  // namespace restante
