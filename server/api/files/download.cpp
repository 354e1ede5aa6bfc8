#include "server/api/files/download.hpp"

#include "http/session/client_watch.hpp"

namespace restante {

namespace {

class memory_download final : public body_source {
public:
    memory_download(std::shared_ptr<const void> holder, std::span<const char> bytes,
                    std::function<void()> on_complete, std::uint64_t length)
        : holder_(std::move(holder)), bytes_(bytes), on_complete_(std::move(on_complete)), length_(length)
    {
    }

    std::optional<std::uint64_t> length() const override { return length_; }
    awaitable<result<std::span<const char>>> next() override { co_return bytes_; }
    void finished(bool all_bytes_sent) override
    {
        if (all_bytes_sent)
            on_complete_();
    }

private:
    std::shared_ptr<const void> holder_;
    std::span<const char> bytes_;
    std::function<void()> on_complete_;
    std::uint64_t length_;
};

class spooled_download final : public body_source {
public:
    spooled_download(std::shared_ptr<spool> bytes, std::function<void()> on_complete)
        : bytes_(std::move(bytes)), on_complete_(std::move(on_complete))
    {
    }

    std::optional<std::uint64_t> length() const override { return bytes_->size(); }

    awaitable<result<std::span<const char>>> next() override
    {
        block_.resize(download_block);
        auto piece = co_await bytes_->read(sent_, block_);
        if (piece)
            sent_ += piece->size();
        co_return piece;
    }

    void finished(bool all_bytes_sent) override
    {
        if (all_bytes_sent)
            on_complete_();
    }

private:
    std::shared_ptr<spool> bytes_;
    std::function<void()> on_complete_;
    std::vector<char> block_;
    std::uint64_t sent_ = 0;
};

class spool_sink final : public content_sink {
public:
    spool_sink(spool& to, const bool& client_gone) : to_(to), client_gone_(client_gone) {}
    awaitable<error_code> write(std::span<const char> bytes) override
    {
        if (client_gone_)
            co_return RESTANTE_ERROR(errc::client_gone);
        co_return co_await to_.write(bytes);
    }

private:
    spool& to_;
    const bool& client_gone_;
};

}  // namespace

std::unique_ptr<body_source> make_memory_download(std::shared_ptr<const void> holder,
                                                  std::span<const char> bytes,
                                                  std::function<void()> on_complete, std::uint64_t length)
{
    return std::make_unique<memory_download>(std::move(holder), bytes, std::move(on_complete), length);
}

std::unique_ptr<body_source> make_spooled_download(std::shared_ptr<spool> bytes,
                                                   std::function<void()> on_complete)
{
    return std::make_unique<spooled_download>(std::move(bytes), std::move(on_complete));
}

awaitable<result<std::shared_ptr<spool>>> spool_content(request_context& req, files_services& svc,
                                                        byte_range part)
{
    const auto disk = std::make_shared<disk_claim>(svc.spools, req.workspace_id());
    if (part.size() > spool::memory_limit && !disk->reserve(part.size()))
        co_return RESTANTE_ERROR(errc::no_room);
    auto bytes = std::make_shared<spool>(disk, spool::hashing::off);
    bool gone = false;
    const client_watch watch(req, [&gone] { gone = true; });
    spool_sink sink(*bytes, gone);
    if (auto ec = co_await svc.uploads.read_content(req.workspace_id(), req.file_id(), part.first,
                                                    part.size(), sink))
        co_return ec;
    if (auto ec = co_await bytes->finish())
        co_return ec;
    co_return bytes;
}

}  // namespace restante
