#include "storage/content/inline_store.hpp"

#include "storage/pq/transaction.hpp"

#include <algorithm>

namespace restante {

namespace {

// A row never changes its bytes, so a snapshot is only needed to keep a row that is deleted meanwhile.
const statement hold_snapshot{"hold_snapshot", "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"};

const statement read_slice{"read_slice",
                           "SELECT substring(content FROM $3::int4 FOR $4::int4) FROM pending_uploads "
                           "WHERE file_id = $1::uuid AND workspace_id = $2::uuid AND content IS NOT NULL"};

class inline_reader final : public content_reader {
public:
    inline_reader(pq::transaction snapshot, const stored_content& what, content_part part)
        : snapshot_(std::move(snapshot)), what_(what), at_(part.first), end_(part.first + part.length)
    {
        const pq::parameters none;
        snapshot_->queue(hold_snapshot, none);
    }

    // The first slice shows whether the row is there.
    awaitable<error_code> begin() { co_return co_await fetch(); }

    awaitable<result<std::span<const char>>> next() override
    {
        if (!fetched_) {
            if (auto ec = co_await fetch())
                co_return ec;
        }
        fetched_ = false;
        at_ += slice_.size();
        co_return slice_;
    }

    bool must_be_drained() const override { return true; }

private:
    awaitable<result<std::vector<pq::result_set>>> send(bool last)
    {
        if (last)
            co_return co_await snapshot_->commit();
        co_return co_await snapshot_->flush();
    }

    awaitable<error_code> fetch()
    {
        const auto wanted = std::min(inline_store::slice_bytes, end_ - at_);
        const pq::parameters with(what_.file_id, what_.workspace_id, static_cast<std::int32_t>(at_ + 1),
                                  static_cast<std::int32_t>(wanted));
        snapshot_->queue(read_slice, with);
        const bool last = at_ + wanted == end_;
        auto results = co_await send(last);
        if (!results)
            co_return results.error();
        if (last)
            snapshot_.reset();  // others may have the connection
        if (results->back().empty())
            co_return RESTANTE_ERROR(errc::not_found);
        rows_ = std::move(results->back());
        const auto slice = (*rows_)[0][0].as<pq::blob>();
        if (!slice)
            co_return slice.error();
        if (slice->size() != wanted)
            co_return RESTANTE_ERROR(errc::content_lost);
        slice_ = *slice;
        fetched_ = true;
        co_return error_code{};
    }

    std::optional<pq::transaction> snapshot_;
    stored_content what_;
    std::uint64_t at_;
    std::uint64_t end_;
    std::optional<pq::result_set> rows_;
    std::span<const char> slice_;
    bool fetched_ = false;  // slice_ was read and not yet returned
};

}  // namespace

awaitable<error_code> inline_store::write(std::span<const content_to_store>)
{
    co_return error_code{};
}

awaitable<result<std::unique_ptr<content_reader>>> inline_store::open(stored_content what, content_part part)
{
    auto tx = co_await db_.begin(pq::lane::large, what.workspace_id);
    if (!tx)
        co_return tx.error();
    auto reader = std::make_unique<inline_reader>(std::move(*tx), what, part);
    if (auto ec = co_await reader->begin())
        co_return ec;
    co_return reader;
}

awaitable<result<std::vector<std::string>>> inline_store::remove(std::span<const std::string>)
{
    co_return std::vector<std::string>{};
}

awaitable<result<std::vector<listed_content>>> inline_store::list(std::string, std::string, std::size_t)
{
    co_return std::vector<listed_content>{};
}

}  // namespace restante
