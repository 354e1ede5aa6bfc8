#include "server/events/sse_session.hpp"

#include "auth/authenticator.hpp"
#include "http/net/connection.hpp"
#include "server/events/chat_event.hpp"
#include "storage/activity_feed.hpp"

#include <algorithm>
#include <array>

namespace restante {

namespace {

using steady = std::chrono::steady_clock;

constexpr auto between_heartbeats = std::chrono::seconds(15);
constexpr std::size_t bytes_a_write = 64 * 1024;
constexpr int rows_a_page = 50;
constexpr std::int64_t bytes_a_page = 1 << 20;  // a slow reader keeps a page for as long as it takes
// As read and as text; a row and its page's small texts may come on top of the bodies.
constexpr std::size_t room_for_page = 3u << 20;
const std::string heartbeat = ": still here\n\n";

// An event without data only moves the client's last id. Sent first, it lets a client that loses the
// connection before its first event resume at the right place.
std::string opening(std::int64_t at)
{
    return "retry: 2000\nid: " + std::to_string(at) + "\n\n";
}

constexpr std::string_view data_head = "data: ";

// A live event has no id: the place where a client resumes stays that of the last row.
std::string event_head(std::int64_t seq)
{
    if (seq == 0)
        return std::string(data_head);
    return "id: " + std::to_string(seq) + "\ndata: ";
}
constexpr std::string_view event_end = "\n\n";

class sse_session {
public:
    sse_session(connection& conn, event_stream_start start, event_stream_services with)
        : conn_(conn), start_(std::move(start)), with_(with), listener_(*start_.listener)
    {
        listener_.allow_gaps();
        listener_.on_drop([this] {
            stop();
            conn_.stream.cancel();
        });
    }
    ~sse_session()
    {
        conn_.unwatch();
        listener_.on_drop(nullptr);
    }

    awaitable<void> run();
    void stop();

private:
    awaitable<bool> resume();
    awaitable<bool> replay();
    awaitable<bool> send_page(const feed_page& page);
    awaitable<void> follow();
    awaitable<bool> send_queued();
    awaitable<bool> fill_gap();
    std::vector<shared_event> take_following();
    awaitable<bool> send_events(std::span<const shared_event> events);
    awaitable<bool> move_to(std::int64_t seq);
    awaitable<bool> write(const std::string& text);
    bool over() const { return over_ || listener_.cause() != close_cause::none; }

    connection& conn_;
    event_stream_start start_;
    event_stream_services with_;
    subscriber& listener_;
    std::int64_t last_sent_ = 0;
    bool over_ = false;
};

void sse_session::stop()
{
    over_ = true;
    listener_.wake();
}

awaitable<void> sse_session::run()
{
    bool going = co_await move_to(start_.after.value_or(listener_.start()));
    if (going && start_.after)
        going = co_await resume();
    if (going)
        co_await follow();
    conn_.stream.shutdown_send();
}

awaitable<bool> sse_session::move_to(std::int64_t seq)
{
    last_sent_ = seq;
    const auto moved = opening(seq);
    co_return co_await write(moved);
}

// Most of what was missed is read before the listener starts, whose queue would not hold what is committed
// during a long replay. What came in between is read once it has, and what comes twice then is known by its
// number.
awaitable<bool> sse_session::resume()
{
    const bool replayed = co_await replay();
    if (!replayed)
        co_return false;
    const auto started = co_await with_.events.start(listener_);
    if (!started)
        co_return false;
    if (listener_.start() <= last_sent_)
        co_return true;
    co_return co_await replay();
}

// Until a page is empty: one of large rows is short and not the last. The token is checked after each read,
// so that no row is sent that was committed when it had long been revoked.
awaitable<bool> sse_session::replay()
{
    feed_query query{.workspace = start_.workspace,
                     .limit = rows_a_page,
                     .past_gaps = true,
                     .max_bytes = bytes_a_page,
                     .max_row_bytes = largest_in_frame};
    while (!over()) {
        // Taken before the page is read: a page that waits for room has taken it already.
        auto room = co_await with_.events.reserve(room_for_page);
        if (!room || over())
            co_return false;
        query.since_seq = last_sent_;
        const auto page = co_await with_.feed.read(query);
        if (!page)
            co_return false;
        if (page->empty())
            co_return !over();
        const auto valid = co_await with_.auth.still_valid(listener_.who());
        if (!valid || over())
            co_return false;
        const auto bytes = 2 * page->memory();  // as read, and as text
        room->resize(bytes);
        listener_.hold(bytes);
        const bool sent = co_await send_page(*page);
        if (!sent)
            co_return false;
    }
    co_return false;
}

awaitable<bool> sse_session::send_page(const feed_page& page)
{
    std::string text;
    for (int i = 0; i < page.size(); ++i) {
        const auto row = page[i];
        if (!row)
            co_return false;
        if (const auto chat = make_chat_event(*row); !chat.empty())
            text.append(data_head).append(chat).append(event_end);
        text += event_head(row->seq);
        append_frame(text, *row);
        text += event_end;
        last_sent_ = row->seq;
        if (text.size() < bytes_a_write && i + 1 < page.size())
            continue;
        const bool written = co_await write(text);
        if (!written || over())
            co_return false;
        text.clear();
    }
    listener_.release();
    with_.events.metrics().sent.add(page.size());
    co_return true;
}

awaitable<void> sse_session::follow()
{
    conn_.watch_for_end([this] { stop(); });
    auto next_heartbeat = steady::now() + between_heartbeats;
    for (bool going = true; going;) {
        co_await listener_.wait_until(next_heartbeat);
        if (over())
            co_return;
        if (const auto back_to = listener_.take_rewind())
            going = co_await move_to(*back_to);
        else if (listener_.has_events())
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
    const auto events = take_following();
    if (!events.empty()) {
        const bool sent = co_await send_events(events);
        listener_.release();
        co_return sent;
    }
    listener_.release();
    if (!listener_.has_events())
        co_return true;
    co_return co_await fill_gap();
}

// The queue as far as it goes on without a gap; not much more than one write at a time.
std::vector<shared_event> sse_session::take_following()
{
    std::vector<shared_event> events;
    std::size_t bytes = 0;
    while (listener_.has_events() && listener_.next().seq <= last_sent_ + 1 && bytes < bytes_a_write) {
        auto next = listener_.take();
        const bool is_row = next->seq != 0;
        if (is_row && next->seq <= last_sent_)
            continue;  // a replay has shown it
        if (is_row)
            last_sent_ = next->seq;
        bytes += next->size();
        events.push_back(std::move(next));
    }
    return events;
}

// The next event in the queue is not the one that follows. The database has the rows between, unless
// retention has removed them. By the time they are read the queue may begin elsewhere.
awaitable<bool> sse_session::fill_gap()
{
    const auto gap_end = listener_.next().seq - 1;
    const bool replayed = co_await replay();
    last_sent_ = std::max(last_sent_, gap_end);
    co_return replayed;
}

// The texts are not copied: other listeners may share them.
awaitable<bool> sse_session::send_events(std::span<const shared_event> events)
{
    std::vector<std::string> heads;
    heads.reserve(events.size());
    std::vector<asio::const_buffer> buffers;
    for (const auto& each : events) {
        if (!each->chat.empty()) {
            buffers.push_back(asio::buffer(data_head));
            buffers.push_back(asio::buffer(each->chat));
            buffers.push_back(asio::buffer(event_end));
        }
        heads.push_back(event_head(each->seq));
        buffers.push_back(asio::buffer(heads.back()));
        buffers.push_back(asio::buffer(each->text));
        buffers.push_back(asio::buffer(event_end));
    }
    const auto ec = co_await conn_.write(buffers);
    for (const auto& each : events)
        if (!ec)
            with_.events.metrics().note_sent(*each);
    co_return !ec;
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
