#include "server/api/uploads/upload.hpp"

#include "auth/authenticator.hpp"
#include "core/fault_point.hpp"
#include "core/log.hpp"
#include "server/api/common/caller.hpp"
#include "server/api/common/delivery.hpp"
#include "server/api/common/idempotency.hpp"
#include "server/api/push/forward.hpp"
#include "server/api/uploads/quota_gate.hpp"
#include "server/api/uploads/running_keys.hpp"
#include "server/api/uploads/services.hpp"
#include "server/api/uploads/upload_answer.hpp"
#include "server/api/uploads/upload_form.hpp"
#include "server/api/uploads/upload_metrics.hpp"
#include "storage/content/content_stores.hpp"

namespace restante {

namespace {

using steady = std::chrono::steady_clock;

response reject(const request_context& req, upload_services& svc, const refusal& why)
{
    svc.metrics.count_rejected(why.code);
    if (caller_of(req).grant)
        svc.metrics.count_grant_rejected(why.code);
    log_line(log_level::info, "upload_rejected")
        .from(req.origin())
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
            .from(req.origin())
            .field("workspace_id", req.workspace_id())
            .field("file_id", file.file_id)
            .field("size", file.content->size())
            .field("name", file.filename)
            .field("mimetype", file.mimetype)
            .field("duration_ms", took.count())
            .field("remote", req.remote_text());
    }
}

void note_staged(const request_context& req, upload_services& svc, std::span<const new_file> files,
                 steady::time_point begun)
{
    svc.metrics.count_staged(files);
    log_staged(req, files, begun);
    if (!caller_of(req).grant)
        return;
    svc.metrics.count_grant_staged();
    log_line(log_level::info, "grant_used")
        .from(req.origin())
        .field("workspace_id", req.workspace_id())
        .field("grant_id", caller_of(req).token)
        .field("files", std::uint64_t{files.size()});
}

// Room for the whole body, if its length is known and it may not fit into memory, and a store that takes it. A
// body that may be made of small files only needs no store.
result<std::shared_ptr<disk_claim>> claim_disk(request_context& req, upload_services& svc)
{
    auto claim = std::make_shared<disk_claim>(svc.spools, req.workspace_id(), svc.received_in);
    const auto announced = req.body().announced();
    const auto small_files = svc.contents.policy().inline_max * svc.limits.files + framing_allowance;
    if (announced > small_files && !svc.contents.has_room(announced - framing_allowance))
        return RESTANTE_ERROR(errc::content_store_unavailable);
    if (announced > spool::memory_limit && !claim->reserve(announced))
        return RESTANTE_ERROR(errc::no_room);
    return claim;
}

// From what the head tells. A request that was stored before under its key is answered as it was then, even
// though the workspace is full by now.
awaitable<answerable<void>> check_quota(request_context& req, upload_services& svc,
                                        const std::optional<std::string>& key)
{
    auto fits = co_await svc.quotas.admit(req.workspace_id(), req.body().announced(), framing_allowance);
    if (!fits && key && co_await svc.stage.has_used(req.workspace_id(), *key))
        co_return answerable<void>();
    co_return fits;
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
    if (*way == delivery::forward && caller_of(req).grant)
        co_return reject(req, svc, upload_grant::refuse_forward());
    if (*way == delivery::forward)
        co_return co_await forward_upload(req, svc.push, limits.request_bytes);
    const auto fits = co_await check_quota(req, svc, head->key);
    if (!fits)
        co_return reject(req, svc, fits.error());
    const auto disk = claim_disk(req, svc);
    if (!disk)
        co_return reject(req, svc, disk.error());
    const auto claim = svc.keys.try_claim(req.workspace_id(), head->key);
    if (!claim)
        co_return reject(req, svc, errc::idempotency_key_running);

    auto files = co_await read_form(req.body(), head->separator, limits, head->grant, *disk);
    if (!files)
        co_return reject(req, svc, files.error());
    fault_point("body_parsed");

    auto load =
        make_upload(req.workspace_id(), token_of(caller_of(req)), std::move(*files), std::move(head->key));
    load.trace = req.trace();
    const auto staged_files = load.files;
    const auto answer = load.answer;
    auto stored = co_await svc.stage.stage(std::move(load));
    if (!stored) {
        auto why = refusal_of_write(stored.error());
        if (stored.error() == errc::quota_exceeded)
            why = co_await svc.quotas.explain(req.workspace_id(), staged_files);
        co_return reject(req, svc, why);
    }

    if (stored->earlier_answer) {
        auto again = req.json(http::status::ok, fill_in_expiry(*stored->earlier_answer, stored->expires_at));
        mark_as_replay(again);
        co_return again;
    }
    note_staged(req, svc, staged_files, begun);
    co_return req.json(http::status::ok, fill_in_expiry(*answer, stored->expires_at));
}

}  // namespace restante
