#include "server/api/uploads/upload_metrics.hpp"

#include "http/message/public_errors.hpp"

namespace restante {

namespace {

metric_set::number& outcome(metric_set& metrics, std::string_view name)
{
    return metrics.counter("molecule_uploads_total", "Upload requests by outcome.", {{"outcome", name}});
}

metric_set::number& grant_outcome(metric_set& metrics, std::string_view name)
{
    return metrics.counter("molecule_grant_uploads_total", "Upload requests with a grant, by outcome.",
                           {{"outcome", name}});
}

}  // namespace

upload_metrics::upload_metrics(metric_set& metrics)
    : staged_(outcome(metrics, "staged")),
      refused_(outcome(metrics, "refused")),
      over_quota_(outcome(metrics, "over_quota")),
      unavailable_(outcome(metrics, "unavailable")),
      failed_(outcome(metrics, "failed")),
      by_grant_{grant_outcome(metrics, "stored"),    grant_outcome(metrics, "exhausted"),
                grant_outcome(metrics, "too_large"), grant_outcome(metrics, "wrong_type"),
                grant_outcome(metrics, "ended"),     grant_outcome(metrics, "other")},
      files_(metrics.counter("molecule_uploaded_files_total", "Files staged.")),
      bytes_(metrics.counter("molecule_uploaded_bytes_total", "Bytes of staged files."))
{
}

void upload_metrics::count_staged(std::span<const new_file> files)
{
    staged_.add();
    files_.add(static_cast<double>(files.size()));
    for (const auto& file : files)
        bytes_.add(static_cast<double>(file.content->size()));
}

void upload_metrics::count_grant_rejected(errc why)
{
    switch (why) {
        case errc::grant_exhausted: by_grant_.exhausted.add(); break;
        case errc::request_too_large:
        case errc::file_too_large: by_grant_.too_large.add(); break;
        case errc::unsupported_media_type: by_grant_.wrong_type.add(); break;
        case errc::invalid_token: by_grant_.ended.add(); break;
        default: by_grant_.other.add();
    }
}

void upload_metrics::count_rejected(errc why)
{
    if (why == errc::quota_exceeded) {
        over_quota_.add();
        return;
    }
    const unsigned status = public_error_of(why).status;
    (status < 500 ? refused_ : status == 503 ? unavailable_ : failed_).add();
}

}  // namespace restante
