#pragma once

#include "auth/expiring_map.hpp"
#include "http/message/public_errors.hpp"
#include "storage/pending_uploads.hpp"
#include "storage/quota_store.hpp"

namespace restante {

// Refuses uploads to a workspace that is full before their bodies are read. It may let one through that will
// not fit, because what it knows is some seconds old: the transaction decides. It never refuses one that
// would.
class quota_gate {
public:
    explicit quota_gate(quota_store& quotas) : quotas_(quotas) {}

    // `announced` is the length of the body, 0 while it is unknown; `framing` is what of it may not be file
    // data. Fails with quota_exceeded, `used` and `limit`, and with the errors of the database.
    awaitable<answerable<void>> admit(uuid workspace, std::uint64_t announced, std::uint64_t framing);

    // What to answer when the transaction has refused these files.
    awaitable<refusal> explain(uuid workspace, std::span<const new_file> files);

private:
    quota_store& quotas_;
    // What may be let in without asking again: the rest of the first half of a quota, as it was a moment ago,
    // less what has been let in since.
    expiring_map<uuid, quota_use> spare_{std::chrono::seconds(5), 10'000};
};

}  // namespace restante
