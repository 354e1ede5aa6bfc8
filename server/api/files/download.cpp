#include "server/api/files/download.hpp"

#include <sys/stat.h>

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

class streamed_download final : public body_source {
public:
    streamed_download(std::unique_ptr<content_reader> from, std::uint64_t length, download_end end)
        : from_(std::move(from)), length_(length), end_(std::move(end))
    {
    }

    std::optional<std::uint64_t> length() const override { return length_; }
    awaitable<result<std::span<const char>>> next() override
    {
        auto piece = co_await from_->next();
        if (!piece && piece.error() == errc::content_lost)
            end_.on_lost();
        co_return piece;
    }
    std::optional<file_part> file() const override
    {
        const auto file = from_->file();
        if (!file)
            return std::nullopt;
        return file_part{file->descriptor, file->first, file->length};
    }
    void finished(bool all_bytes_sent) override
    {
        if (all_bytes_sent)
            end_.on_complete();
        else if (has_shrunk())
            end_.on_lost();
    }

private:
    // The kernel has sent the file, and only it has seen the end.
    bool has_shrunk() const
    {
        const auto file = from_->file();
        struct stat info {};
        return file && ::fstat(file->descriptor, &info) == 0 &&
               static_cast<std::uint64_t>(info.st_size) < file->first + file->length;
    }

    std::unique_ptr<content_reader> from_;
    std::uint64_t length_;
    download_end end_;
};

}  // namespace

std::unique_ptr<body_source> make_memory_download(std::shared_ptr<const void> holder,
                                                  std::span<const char> bytes,
                                                  std::function<void()> on_complete, std::uint64_t length)
{
    return std::make_unique<memory_download>(std::move(holder), bytes, std::move(on_complete), length);
}

std::unique_ptr<body_source> make_streamed_download(std::unique_ptr<content_reader> from,
                                                    std::uint64_t length, download_end end)
{
    return std::make_unique<streamed_download>(std::move(from), length, std::move(end));
}

}  // namespace restante
