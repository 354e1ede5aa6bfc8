#pragma once

#include "storage/pq/pool.hpp"
#include "storage/upload_events.hpp"

namespace restante {

// What became of a file, as its sender sees it.
struct receipt {
    uuid file_id;
    std::string filename;
    std::optional<std::string> original_name;
    std::string mimetype;
    std::int64_t size = 0;
    digest32 sha256{};
    upload_state state = upload_state::staged;
    timestamp staged_at{};
    std::optional<timestamp> fetched_at;
    std::optional<timestamp> acked_at;
    timestamp expires_at{};

    std::optional<timestamp> expired_at() const
    {
        return state == upload_state::expired ? std::optional(expires_at) : std::nullopt;
    }
};

// Receipts: of files that are there, from their rows; of files that are gone, from what the sweep left of
// them.
class receipt_store {
public:
    explicit receipt_store(pq::connection_pool& db) : db_(db) {}

    // receipt_not_found when there is none, it is another workspace's, or, where `staged_by` is given, that
    // token did not stage the file.
    awaitable<result<receipt>> find(uuid workspace, uuid file, std::optional<uuid> staged_by);

    // How far these files have come; those that are not known are left out.
    awaitable<result<std::vector<upload_news>>> states(std::span<const uuid> files);

private:
    pq::connection_pool& db_;
};

}  // namespace restante
