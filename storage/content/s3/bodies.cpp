#include "storage/content/s3/bodies.hpp"

#include <algorithm>
#include <utility>

namespace restante::s3 {

namespace {

constexpr std::uint64_t block_size = 256 * 1024;

}  // namespace

awaitable<result<std::span<const char>>> file_part::next()
{
    const auto left = part_.size - passed_;
    if (left == 0)
        co_return std::span<const char>{};
    const auto first = part_.first + passed_;
    if (const auto all = file_.in_memory()) {
        passed_ = part_.size;
        co_return all->subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(left));
    }
    if (block_.empty())
        block_.resize(static_cast<std::size_t>(std::min(block_size, part_.size)));
    const auto piece = co_await file_.read(first, block_);
    if (!piece)
        co_return piece.error();
    const auto taken = piece->first(static_cast<std::size_t>(std::min<std::uint64_t>(left, piece->size())));
    if (taken.empty())  // shorter than it was said to be
        co_return RESTANTE_ERROR(errc::io_error);
    passed_ += taken.size();
    co_return taken;
}

awaitable<result<std::span<const char>>> text_body::next()
{
    const auto all = std::exchange(rest_, {});
    co_return std::span<const char>(all.data(), all.size());
}

}  // namespace restante::s3
