#include "server/api/files/open_content.hpp"

#include "core/log.hpp"
#include "server/api/files/verified_reader.hpp"
#include "storage/content/content_stores.hpp"

namespace restante {

namespace {

constexpr int attempts = 3;

bool is_missing(error_code ec)
{
    return ec == errc::not_found || ec == errc::content_lost;
}

// What comes from another machine is compared while it passes; a part of such a file has no digest. A file of
// this machine knows by itself what to do when it is read as a whole; anything less is compared beforehand.
awaitable<result<std::unique_ptr<content_reader>>> open_verified(files_services& svc, const staged_file& file,
                                                                 content_part part,
                                                                 const trace_context& trace)
{
    auto what = file.content();
    what.trace = trace;
    auto opened = co_await svc.contents.open(file.place, std::move(what), part);
    if (!opened)
        co_return opened;
    const auto size = static_cast<std::uint64_t>(file.size);
    const bool whole = part.length == size;
    if (whole && file.place == content_place::s3)
        co_return make_verified_reader(std::move(*opened), file.content());
    if (!whole || size <= verified_first) {
        if (const auto ec = co_await (*opened)->verify())
            co_return ec;
    }
    co_return opened;
}

}  // namespace

error_code report_lost(files_services& svc, const staged_file& file, const log_origin& origin)
{
    svc.contents.count_lost(file.place);
    log_line(log_level::error, "content_lost")
        .from(origin)
        .field("workspace_id", file.workspace_id)
        .field("file_id", file.file_id)
        .field("size", file.size)
        .field("store", name_of(file.place));
    return RESTANTE_ERROR(errc::content_lost);
}

awaitable<result<std::unique_ptr<content_reader>>> open_content(files_services& svc, staged_file file,
                                                                content_part part, const request_context& req)
{
    for (int attempt = 1;; ++attempt) {
        auto opened = co_await open_verified(svc, file, part, req.trace());
        if (opened || !is_missing(opened.error()))
            co_return opened;
        auto now = co_await svc.uploads.get(file.workspace_id, file.file_id, pending_uploads::want::facts,
                                            pending_uploads::acked::shown);
        if (!now)
            co_return now.error();
        const bool moved = now->file.place != file.place || now->file.key != file.key;
        if (!moved || attempt == attempts)
            co_return report_lost(svc, file, req.origin());
        file = std::move(now->file);
    }
}

}  // namespace restante
