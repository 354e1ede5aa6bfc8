#pragma once

#include "core/error.hpp"
#include "core/metrics.hpp"
#include "storage/pending_uploads.hpp"

#include <span>

namespace restante {

// Uploads of one shard by outcome, and the files and bytes that were staged.
class upload_metrics {
public:
    explicit upload_metrics(metric_set& metrics);

    void count_staged(std::span<const new_file> files);
    // By cause: the client, no room here, or a database that refused or was unavailable.
    void count_rejected(errc why);

    // Of the above, those that came with an upload grant.
    void count_grant_staged() { by_grant_.stored.add(); }
    void count_grant_rejected(errc why);

private:
    struct grant_outcomes {
        metric_set::number& stored;
        metric_set::number& exhausted;
        metric_set::number& too_large;
        metric_set::number& wrong_type;
        metric_set::number& ended;  // expired or revoked while the body came
        metric_set::number& other;
    };

    metric_set::number& staged_;
    metric_set::number& refused_;
    metric_set::number& over_quota_;
    metric_set::number& unavailable_;
    metric_set::number& failed_;
    grant_outcomes by_grant_;
    metric_set::number& files_;
    metric_set::number& bytes_;
};

}  // namespace restante
