#pragma once

#include "core/ids.hpp"
#include "storage/pending_uploads.hpp"

#include <span>

namespace restante {

// The token that a request came with, as the transaction that stores the request has to know it.
struct used_token {
    used_token(const uuid& token, bool can_end = false, bool counts = false)
        : id(token), ends(can_end), is_grant(counts)
    {
    }

    uuid id;
    bool ends;      // at a time of its own, which may come while the request is on its way
    bool is_grant;  // the upload is counted on it
};

// Counts an upload on its grant. After the files and before the feed: grant, then head, is the order of
// locks. The transaction fails with grant_exhausted when too little is left, invalid_token when the grant has
// ended.
void queue_grant_use(pq::transaction& tx, const used_token& grant, std::span<const new_file> files);

// After the feed's rows, which may have waited for their lock: fails the transaction with invalid_token when
// one of these tokens has ended.
void queue_end_check(pq::transaction& tx, std::span<const uuid> tokens);

}  // namespace restante
