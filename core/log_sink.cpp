#include "core/log_sink.hpp"

#include "core/log.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <mutex>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace restante {

namespace {

constexpr auto flush_limit = std::chrono::seconds(1);

std::atomic<int> sink{STDERR_FILENO};
std::atomic<std::uint64_t> dropped{0};
std::atomic<log_queue*> active{nullptr};

// Only after a partial write (a full pipe) is a second one needed: half a line would corrupt the next one.
bool write_all(std::string_view text)
{
    const int descriptor = sink.load(std::memory_order_relaxed);
    while (!text.empty()) {
        const ssize_t n = ::write(descriptor, text.data(), text.size());
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

// As many whole lines as a pipe takes in one piece, so that lines of several processes do not mix; at least
// one.
std::string_view next_piece(std::string_view lines)
{
    const auto fits = lines.substr(0, PIPE_BUF).rfind('\n');
    return lines.substr(0, (fits != std::string_view::npos ? fits : lines.find('\n')) + 1);
}

void write_lines(std::string_view lines)
{
    while (!lines.empty()) {
        const auto piece = next_piece(lines);
        if (!write_all(piece))
            dropped += static_cast<std::uint64_t>(std::ranges::count(piece, '\n'));
        lines.remove_prefix(piece.size());
    }
}

bool sink_is_a_file()
{
    struct stat info = {};
    return ::fstat(sink.load(), &info) == 0 && S_ISREG(info.st_mode);
}

}  // namespace

// Between the threads that log and the one that writes. The lock is held to copy a line or to swap two
// buffers, never during a write.
class log_queue {
public:
    explicit log_queue(std::size_t capacity) : capacity_(capacity) {}

    void push(std::string_view line)
    {
        const std::lock_guard lock(guard_);
        if (waiting_.size() + line.size() > capacity_) {
            ++dropped;
            ++unreported_;
            return;
        }
        waiting_ += line;
        changed_.notify_all();
    }

    // Writes until stop() was called and nothing is left.
    void run()
    {
        std::string lines;
        while (take(lines)) {
            write_lines(lines);
            lines.clear();
        }
    }

    void stop()
    {
        const std::lock_guard lock(guard_);
        stopping_ = true;
        changed_.notify_all();
    }

    // Whether everything was written within the time.
    bool drained_within(std::chrono::milliseconds limit)
    {
        std::unique_lock lock(guard_);
        return changed_.wait_for(lock, limit, [this] { return waiting_.empty() && !writing_; });
    }

private:
    bool take(std::string& lines)
    {
        std::uint64_t lost = 0;
        {
            std::unique_lock lock(guard_);
            writing_ = false;
            changed_.notify_all();
            changed_.wait(lock, [this] { return !waiting_.empty() || stopping_; });
            if (waiting_.empty())
                return false;
            lines.swap(waiting_);
            writing_ = true;
            lost = std::exchange(unreported_, 0);
        }
        if (lost != 0)
            log_line(log_level::warn, "log_lines_dropped").field("lines", lost);
        return true;
    }

    const std::size_t capacity_;
    std::mutex guard_;
    std::condition_variable changed_;
    std::string waiting_;
    std::uint64_t unreported_ = 0;
    bool writing_ = false;
    bool stopping_ = false;
};

void set_log_sink(int descriptor)
{
    sink.store(descriptor, std::memory_order_relaxed);
}

void write_log_line(std::string_view line)
{
    if (auto* queue = active.load(std::memory_order_acquire))
        queue->push(line);
    else if (!write_all(line))
        ++dropped;
}

std::uint64_t log_lines_dropped()
{
    return dropped.load(std::memory_order_relaxed);
}

background_log::background_log(std::size_t capacity)
{
    if (sink_is_a_file())
        return;
    queue_ = std::make_unique<log_queue>(capacity);
    writer_ = std::thread([queue = queue_.get()] { queue->run(); });
    active.store(queue_.get(), std::memory_order_release);
}

background_log::~background_log()
{
    if (!queue_)
        return;
    queue_->stop();
    if (queue_->drained_within(flush_limit)) {
        active.store(nullptr, std::memory_order_release);
        writer_.join();
    } else {
        // A thread that is stuck in write(2) cannot be joined. It and its queue stay until the process ends,
        // and what is logged from here on does not wait for that reader either.
        writer_.detach();
        queue_.release();
    }
}

void flush_log()
{
    if (auto* queue = active.load(std::memory_order_acquire))
        queue->drained_within(flush_limit);
}

}  // namespace restante
