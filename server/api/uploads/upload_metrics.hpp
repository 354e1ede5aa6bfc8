#pragma once

#include "core/error.hpp"
#include "core/metrics.hpp"
#include "storage/pending_uploads.hpp"

#include <span>

namespace restante {

// Uploads of one shard by outcome, and the files and bytes that were staged.
class upload_metrics {
public:
    explicit upload_metrics(metrics& counts);

    void count_staged(std::span<const new_file> files);
    // The client's own doing, too little room here, or a database that refused or was away.
    void count_rejected(errc why);

private:
    metrics::number& staged_;
    metrics::number& refused_;
    metrics::number& unavailable_;
    metrics::number& failed_;
    metrics::number& files_;
    metrics::number& bytes_;
};

}  // namespace restante
