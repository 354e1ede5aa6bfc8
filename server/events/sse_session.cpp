#include "server/events/sse_session.hpp"

#include "http/net/connection.hpp"
#include "storage/activity_feed.hpp"

#include <array>

namespace restante {

namespace {

using steady = std::chrono::steady_clock;

constexpr auto between_heartbeats = std::chrono::seconds(15);
constexpr std::size_t bytes_a_write = 64 * 1024;
constexpr int rows_a_page = 50;
const std::string heartbeat = ": still here\n\n";

// An event without data only moves the client's last id. Sent first, it lets a client that loses the
// connection before its first event resume at the right place.
std::string opening(std::int64_t at)
{
    return "retry: 2000\nid: " + std::to_string(at) + "\n\n";
}

void append_event(std::string& out, const event& next)
{
    out += "id: ";
    out += std::to_string(next.seq);
    out += "\ndata: ";
    out += next.text;
    out += "\n\n";
}

class sse_session {
public:
    sse_session(connection& conn, event_stream_start start, event_stream_services with)
        : conn_(conn), start_(std::move(start)), with_(with), listener_(std::move(start_.listener))
    {
    }
    ~sse_session() { conn_.unwatch(); }

    awaitable<void> run();
    void stop();

private:
    awaitable<bool> resume(std::int64_t after);
    awaitable<bool> replay();
    awaitable<void> follow();
    awaitable<bool> send_queued();
    awaitable<bool> write(const std::string& text);

    connection& conn_;
    event_stream_start start_;
    event_stream_services with_;
    std::shared_ptr<subscriber> listener_;
    std::int64_t last_sent_ = 0;
    bool over_ = false;
};

void sse_session::stop()
{
    over_ = true;
    if (listener_)
        listener_->wake();
}

awaitable<void> sse_session::run()
{
    last_sent_ = start_.after ? *start_.after : listener_->start();
    const auto hello = opening(last_sent_);
    bool going = co_await write(hello);
    if (going && start_.after)
        going = co_await resume(last_sent_);
    if (going)
        co_await follow();
    conn_.stream.shutdown_send();
}

// Most of what was missed is read before the subscriber exists, whose queue would not hold what is committed
// during a long replay. What was committed in between is read once it does; duplicates are recognised by
// their number.
awaitable<bool> sse_session::resume(std::int64_t after)
{
    last_sent_ = after;
    const bool replayed = co_await replay();
    if (!replayed)
        co_return false;
    auto listener = co_await with_.events.subscribe(start_.who, start_.workspace);
    if (!listener)
        co_return false;
    listener_ = std::move(*listener);
    co_return co_await replay();
}

awaitable<bool> sse_session::replay()
{
    feed_query query{.workspace = start_.workspace, .limit = rows_a_page};
    for (int rows = rows_a_page; rows == rows_a_page && !over_;) {
        query.since_seq = last_sent_;
        const auto page = co_await with_.feed.read(query);
        if (!page)
            co_return false;
        rows = page->size();
        std::string text;
        for (int i = 0; i < rows; ++i) {
            const auto row = (*page)[i];
            if (!row)
                co_return false;
            append_event(text, *make_event(*row));
            last_sent_ = row->seq;
        }
        if (text.empty())
            break;
        const bool written = co_await write(text);
        if (!written)
            co_return false;
        with_.events.metrics().sent.add(rows);
    }
    co_return !over_;
}

awaitable<void> sse_session::follow()
{
    conn_.watch_for_end([this] { stop(); });
    auto next_heartbeat = steady::now() + between_heartbeats;
    for (bool going = true; going;) {
        co_await listener_->wait_until(next_heartbeat);
        if (over_ || listener_->told_to_leave() != farewell::none)
            co_return;
        if (listener_->has_events())
            going = co_await send_queued();
        else if (steady::now() >= next_heartbeat)
            going = co_await write(heartbeat);
        else
            continue;
        next_heartbeat = steady::now() + between_heartbeats;
    }
}

awaitable<bool> sse_session::send_queued()
{
    std::string text;
    std::vector<shared_event> taken;
    while (listener_->has_events() && text.size() < bytes_a_write) {
        auto next = listener_->take();
        if (next->seq <= last_sent_)
            continue;  // the replay has sent it
        append_event(text, *next);
        last_sent_ = next->seq;
        taken.push_back(std::move(next));
    }
    if (text.empty())
        co_return true;
    const bool sent = co_await write(text);
    for (const auto& each : taken)
        if (sent)
            with_.events.metrics().note_sent(*each);
    co_return sent;
}

awaitable<bool> sse_session::write(const std::string& text)
{
    std::array<asio::const_buffer, 1> buffers{asio::buffer(text)};
    const auto ec = co_await conn_.write(buffers);
    co_return !ec;
}

}  // namespace

awaitable<void> run_event_stream(connection& conn, event_stream_start start, event_stream_services with)
{
    const counted open(with.events.metrics().streams);
    sse_session session(conn, std::move(start), with);
    const task_group::stop_callback stop(with.requests, [&] { session.stop(); });
    co_await session.run();
}

}  // namespace restante
