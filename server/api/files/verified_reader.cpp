#include "server/api/files/verified_reader.hpp"

namespace restante {

namespace {

class verified_reader final : public content_reader {
public:
    verified_reader(std::unique_ptr<content_reader> from, const stored_content& what)
        : from_(std::move(from)), left_(what.size), expected_(what.sha256)
    {
    }

    awaitable<result<std::span<const char>>> next() override
    {
        auto piece = co_await from_->next();
        if (!piece)
            co_return piece;
        hash_.update(*piece);
        left_ -= std::min<std::uint64_t>(left_, piece->size());
        if (left_ == 0 && hash_.finish() != expected_)
            co_return RESTANTE_ERROR(errc::content_lost);
        co_return piece;
    }

    bool must_be_drained() const override { return from_->must_be_drained(); }

private:
    std::unique_ptr<content_reader> from_;
    std::uint64_t left_;
    digest32 expected_;
    sha256 hash_;
};

}  // namespace

std::unique_ptr<content_reader> make_verified_reader(std::unique_ptr<content_reader> from,
                                                     const stored_content& what)
{
    return std::make_unique<verified_reader>(std::move(from), what);
}

}  // namespace restante
