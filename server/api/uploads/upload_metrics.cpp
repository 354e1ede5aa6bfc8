#include "server/api/uploads/upload_metrics.hpp"

#include "http/message/public_errors.hpp"

namespace restante {

namespace {

metric_set::number& outcome(metric_set& metrics, std::string_view name)
{
    return metrics.counter("molecule_uploads_total", "Upload requests by outcome.", {{"outcome", name}});
}

}  // namespace

upload_metrics::upload_metrics(metric_set& metrics)
    : staged_(outcome(metrics, "staged")),
      refused_(outcome(metrics, "refused")),
      unavailable_(outcome(metrics, "unavailable")),
      failed_(outcome(metrics, "failed")),
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

void upload_metrics::count_rejected(errc why)
{
    const unsigned status = public_error_of(why).status;
    (status < 500 ? refused_ : status == 503 ? unavailable_ : failed_).add();
}

}  // namespace restante
