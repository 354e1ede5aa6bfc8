// GET /workspaces/{id}/pending-uploads/{file_id}/content: the bytes, or one range of them.
#include "core/encoding.hpp"
#include "core/file_names.hpp"
#include "core/log.hpp"
#include "http/session/request_context.hpp"
#include "server/api/common/caller.hpp"
#include "server/api/common/safety_fields.hpp"
#include "server/api/files/download.hpp"
#include "server/api/files/files.hpp"
#include "server/api/files/open_content.hpp"
#include "server/api/files/read_ahead.hpp"
#include "server/api/files/services.hpp"
#include "storage/fetch_stamps.hpp"

namespace restante {

namespace {

using steady = std::chrono::steady_clock;

response describe(const staged_file& file, const std::string& etag)
{
    response answer;
    answer.head.set(http::field::etag, etag);
    answer.head.set("Repr-Digest", "sha-256=:" + to_base64(file.sha256) + ":");
    answer.head.set(http::field::accept_ranges, "bytes");
    add_safety_fields(answer);
    return answer;
}

void describe_body(response& answer, const staged_file& file)
{
    answer.head.set(http::field::content_type,
                    file.mimetype.empty() ? "application/octet-stream" : file.mimetype);
    answer.head.set(http::field::content_disposition, "attachment; filename=\"" + file.filename +
                                                          "\"; filename*=UTF-8''" +
                                                          percent_encode_rfc5987(file.filename));
}

std::string content_range(const byte_range& part, std::int64_t size)
{
    return "bytes " + std::to_string(part.first) + "-" + std::to_string(part.last) + "/" +
           std::to_string(size);
}

range_decision wanted_range(const request_context& req, const staged_file& file, const std::string& etag)
{
    const auto if_range = req.header(http::field::if_range);
    if (!if_range.empty() && !if_range_allows(if_range, etag))
        return {};
    return decide_range(req.header(http::field::range), static_cast<std::uint64_t>(file.size));
}

// A file counts as fetched when its last byte was sent to the workspace; with ranges, by the range that ends
// there. Who has a token that may only read looks on: nobody waits for that.
std::function<void()> stamp_when_complete(const request_context& req, files_services& svc,
                                          const staged_file& file, const byte_range& part,
                                          steady::time_point begun)
{
    if (part.last + 1 != static_cast<std::uint64_t>(file.size))
        return [] {};
    const bool looks_on = caller_of(req).scope == token_scope::read;
    return [&req, &svc, workspace = file.workspace_id, id = file.file_id, size = file.size,
            name = file.filename, mimetype = file.mimetype, begun, looks_on] {
        if (!looks_on)
            svc.stamps.note(workspace, id);
        const std::chrono::duration<double, std::milli> took = steady::now() - begun;
        log_line(log_level::info, "upload_fetched")
            .from(req.origin())
            .field("workspace_id", workspace)
            .field("file_id", id)
            .field("size", size)
            .field("name", name)
            .field("mimetype", mimetype)
            .field("duration_ms", took.count())
            .field("remote", req.remote_text());
    };
}

// The bytes of a file that did not come with its row.
awaitable<result<std::unique_ptr<body_source>>> open_body(const request_context& req, files_services& svc,
                                                          const staged_file& file, byte_range part,
                                                          std::function<void()> on_complete)
{
    download_end end{std::move(on_complete), [&req, &svc, file] { report_lost(svc, file, req.origin()); }};
    const content_part wanted{part.first, part.size()};
    const auto disk = std::make_shared<disk_claim>(svc.spools, file.workspace_id);
    const bool in_row = file.place == content_place::inline_;
    if (in_row && part.size() > spool::memory_limit && !disk->reserve(part.size()))
        co_return RESTANTE_ERROR(errc::no_room);
    auto opened = co_await open_content(svc, file, wanted, req);
    if (!opened)
        co_return opened.error();
    std::optional<digest32> digest;
    if (part.size() == static_cast<std::uint64_t>(file.size))
        digest = file.sha256;
    if ((*opened)->must_be_drained())
        co_return make_read_ahead_download(svc.requests, std::move(*opened), part.size(), digest, disk,
                                           std::move(end), req.trace());
    co_return make_streamed_download(std::move(*opened), part.size(), std::move(end));
}

}  // namespace

awaitable<response> handle_content(request_context& req, files_services& svc)
{
    const auto begun = steady::now();
    const auto recover = req.query().get("recover");
    if (!recover)
        co_return req.fail(recover.error());
    const auto shown = svc.serve_acked || *recover == "true" ? pending_uploads::acked::shown
                                                             : pending_uploads::acked::hidden;
    const bool head_only = req.method() == http::verb::head;
    const auto what = head_only ? pending_uploads::want::facts : pending_uploads::want::content;
    auto found = co_await svc.uploads.get(req.workspace_id(), req.file_id(), what, shown);
    if (!found)
        co_return req.fail(found.error());

    const staged_file& file = found->file;
    const std::string etag = '"' + to_hex(file.sha256) + '"';
    auto answer = describe(file, etag);
    if (if_none_match_hits(req.header(http::field::if_none_match), etag)) {
        answer.head.result(http::status::not_modified);
        co_return answer;
    }
    const auto wanted = wanted_range(req, file, etag);
    if (wanted.answer == range_answer::unsatisfiable) {
        auto refused = req.fail(errc::range_not_satisfiable);
        refused.head.set(http::field::content_range, "bytes */" + std::to_string(file.size));
        co_return refused;
    }
    const bool whole = wanted.answer == range_answer::whole;
    const byte_range part = whole ? byte_range{0, static_cast<std::uint64_t>(file.size) - 1} : wanted.range;
    describe_body(answer, file);
    answer.head.result(whole ? http::status::ok : http::status::partial_content);
    if (!whole)
        answer.head.set(http::field::content_range, content_range(part, file.size));

    auto on_complete = stamp_when_complete(req, svc, file, part, begun);
    if (found->content || head_only) {
        answer.held = req.charge(memory_use::download);
        const auto bytes = found->content.value_or(std::span<const char>());
        if (found->content && !found->verified && sha256_of({bytes.data(), bytes.size()}) != file.sha256)
            co_return req.fail(report_lost(svc, file, req.origin()));
        if (!answer.held.grow_to(bytes.size()))
            co_return req.fail(errc::no_room);
        const auto piece = head_only ? bytes : bytes.subspan(part.first, part.size());
        answer.body = make_memory_download(found->holder, piece, std::move(on_complete), part.size());
        co_return answer;
    }
    answer.held = req.charge(memory_use::download);
    if (!answer.held.grow_to(std::min<std::uint64_t>(download_block, part.size())))
        co_return req.fail(errc::no_room);
    auto body = co_await open_body(req, svc, file, part, std::move(on_complete));
    if (!body)
        co_return req.fail(body.error());
    answer.body = std::move(*body);
    co_return answer;
}

}  // namespace restante
