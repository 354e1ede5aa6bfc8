#include "server/api/files/read_ahead.hpp"

#include "core/log.hpp"
#include "core/wakeup.hpp"

namespace restante {

namespace {

// What the task that reads and the response that sends share.
struct read_ahead {
    read_ahead(executor ex, std::shared_ptr<disk_claim> disk, std::uint64_t bytes,
               std::optional<digest32> digest, const trace_context& request)
        : spooled(std::move(disk), digest ? spool::hashing::on : spool::hashing::off),
          length(bytes),
          expected(digest),
          trace(request),
          changed(ex)
    {
    }

    // How many bytes may be sent: the last one only when the digest is known to be right.
    std::uint64_t sendable() const
    {
        const bool is_right = !expected || (ended && !ended->failed());
        return is_right ? spooled.available() : std::min(spooled.available(), length - 1);
    }

    spool spooled;
    std::uint64_t length;
    std::optional<digest32> expected;
    trace_context trace;
    wakeup changed;
    std::optional<error_code> ended;
    bool abandoned = false;  // nobody sends it any more
};

awaitable<error_code> drain(read_ahead& to, content_reader& from)
{
    for (std::uint64_t done = 0; done < to.length && !to.abandoned;) {
        const auto piece = co_await from.next();
        if (!piece)
            co_return piece.error();
        if (auto ec = co_await to.spooled.write(*piece))
            co_return ec;
        done += piece->size();
        to.changed.notify_all();
    }
    if (to.abandoned)
        co_return error_code{};
    if (auto ec = co_await to.spooled.finish())
        co_return ec;
    if (to.expected && to.spooled.digest() != *to.expected)
        co_return RESTANTE_ERROR(errc::content_lost);
    co_return error_code{};
}

awaitable<void> run_read_ahead(std::shared_ptr<read_ahead> to, std::unique_ptr<content_reader> from)
{
    // However this ends, the response does not wait for ever.
    struct completion {
        read_ahead& of;
        ~completion()
        {
            if (!of.ended)
                of.ended = RESTANTE_ERROR(errc::shutting_down);
            of.changed.notify_all();
        }
    } const completed{*to};
    const auto ec = co_await drain(*to, *from);
    to->ended = ec;
    if (ec && !to->abandoned)
        log_line(log_level::error, "download_cut").field("trace_id", to->trace.id()).failure(ec);
}

class read_ahead_download final : public body_source {
public:
    read_ahead_download(std::shared_ptr<read_ahead> from, download_end end)
        : from_(std::move(from)), end_(std::move(end))
    {
    }
    ~read_ahead_download() override { from_->abandoned = true; }

    std::optional<std::uint64_t> length() const override { return from_->length; }

    awaitable<result<std::span<const char>>> next() override
    {
        while (from_->sendable() <= sent_ && !from_->ended)
            co_await from_->changed.wait();
        if (from_->sendable() <= sent_) {
            if (*from_->ended == errc::content_lost)
                end_.on_lost();
            co_return from_->ended->failed() ? *from_->ended : RESTANTE_ERROR(errc::internal_error);
        }
        block_.resize(std::min<std::uint64_t>(download_block, from_->length));
        const auto most = std::min<std::uint64_t>(block_.size(), from_->sendable() - sent_);
        const auto piece = co_await from_->spooled.read(sent_, std::span(block_).first(most));
        if (piece)
            sent_ += piece->size();
        co_return piece;
    }

    void finished(bool all_bytes_sent) override
    {
        if (all_bytes_sent)
            end_.on_complete();
    }

private:
    std::shared_ptr<read_ahead> from_;
    download_end end_;
    std::vector<char> block_;
    std::uint64_t sent_ = 0;
};

}  // namespace

std::unique_ptr<body_source> make_read_ahead_download(task_group& tasks, std::unique_ptr<content_reader> from,
                                                      std::uint64_t length, std::optional<digest32> digest,
                                                      std::shared_ptr<disk_claim> disk, download_end end,
                                                      const trace_context& trace)
{
    const auto shared =
        std::make_shared<read_ahead>(tasks.get_executor(), std::move(disk), length, digest, trace);
    tasks.spawn("read_ahead", run_read_ahead(shared, std::move(from)));
    return std::make_unique<read_ahead_download>(shared, std::move(end));
}

}  // namespace restante
