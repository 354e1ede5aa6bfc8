#pragma once

#include "storage/content/content_store.hpp"
#include "storage/pq/pool.hpp"

namespace restante {

// Bytes in the row itself: they are written and removed with it, so there is nothing to do for either.
class inline_store final : public content_store {
public:
    // What is read at a time. It costs its size in memory twice: in libpq's buffer and in the result.
    static constexpr std::uint64_t slice_bytes = 256 * 1024;

    explicit inline_store(pq::connection_pool& db) : db_(db) {}

    content_place place() const override { return content_place::inline_; }
    awaitable<error_code> write(std::span<const content_to_store> files) override;

    // Slices of one snapshot, so that a sweep meanwhile cuts nothing short. The snapshot is a transaction on
    // a connection of the lane for large work, for as long as the reader lives. Besides the errors of all
    // stores: not_found when the row is gone.
    awaitable<result<std::unique_ptr<content_reader>>> open(stored_content what, content_part part) override;
    awaitable<result<std::vector<std::string>>> remove(std::span<const std::string> keys) override;
    awaitable<result<std::vector<listed_content>>> list(std::string after, std::string before,
                                                        std::size_t limit) override;

private:
    pq::connection_pool& db_;
};

}  // namespace restante
