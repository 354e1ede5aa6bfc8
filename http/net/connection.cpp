#include "http/net/connection.hpp"

#include "core/file_io.hpp"
#include "core/worker_pool.hpp"
#include "http/net/progress.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>

#include <array>

namespace restante {

namespace {

// A fast client always has bytes ready. After this many the shard's other connections get their turn.
constexpr std::size_t longest_burst = 256 * 1024;

// Bytes of a file are neither copied nor hashed here, so more of them may go out in one turn.
constexpr std::size_t longest_file_burst = 1024 * 1024;

// A new connection is not ended in favour of another before an honest client could send its request.
constexpr auto time_to_speak = std::chrono::seconds(1);

// Between two looks at a peer that may have left behind bytes that it sent.
constexpr auto time_between_looks = std::chrono::milliseconds(250);

asio::ip::address remote_address(tcp_socket& socket)
{
    error_code ec;  // a disconnected peer has no address, and its connection ends with the first read
    const auto address = socket.remote_endpoint(ec).address();
    if (address.is_v6() && address.to_v6().is_v4_mapped())
        return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
    return address;
}

std::span<asio::const_buffer> without_first(std::span<asio::const_buffer> buffers, std::size_t bytes)
{
    while (!buffers.empty() && bytes >= buffers.front().size()) {
        bytes -= buffers.front().size();
        buffers = buffers.subspan(1);
    }
    if (!buffers.empty())
        buffers.front() += bytes;
    return buffers;
}

// Whether they can be sent without waiting for the disk. A look at one page stands for those around it.
bool are_cached(const file_part& part, std::size_t length)
{
    for (std::size_t at = 0; at < length; at += longest_burst)
        if (!is_cached(part.descriptor, part.first + at, std::min(length - at, longest_burst)))
            return false;
    return true;
}

}  // namespace

// Outlives the connection until its cancelled wait has completed.
struct connection::watch : std::enable_shared_from_this<watch> {
    explicit watch(std::function<void()> callback) : on_gone(std::move(callback)) {}

    void arm(net_stream& watched)
    {
        auto on_readable = [self = shared_from_this(), &watched](error_code ec) {
            // Without a callback the watch is over and the stream may be gone.
            if (!self->on_gone || ec)
                return;
            if (watched.peek_end())
                return self->tell();
            if (self->looks_again)
                self->look_later(watched);
        };
        watched.socket().async_wait(tcp_socket::wait_read,
                                    asio::bind_cancellation_slot(stop.slot(), std::move(on_readable)));
    }

    void look_later(net_stream& watched)
    {
        again.emplace(watched.get_executor(), [self = weak_from_this(), &watched] {
            const auto alive = self.lock();
            if (!alive || !alive->on_gone)
                return;
            if (watched.peer_has_left())
                return alive->tell();
            alive->again->expires_after(time_between_looks);
        });
        again->expires_after(time_between_looks);
    }

    void tell()
    {
        const auto callback = std::exchange(on_gone, nullptr);
        callback();
    }

    std::function<void()> on_gone;
    bool looks_again = false;
    std::optional<deadline> again;
    asio::cancellation_signal stop;
};

connection::connection(net_stream established)
    : stream(std::move(established)),
      remote_(remote_address(stream.socket())),
      remote_text_(remote_.to_string()),
      limit_(stream.get_executor(), [this] { stream.cancel(); })
{
}

connection::~connection()
{
    unwatch();
    become_known();
}

error_code connection::why_aborted(const error_code& ec) const
{
    if (ec != asio::error::operation_aborted)
        return ec;
    if (limit_.expired())
        return errc::request_timeout;
    if (reading_aborted_)
        return *reading_aborted_;
    return ec;
}

awaitable<error_code> connection::wait_to_read(net_stream::wait_type what)
{
    waiting_to_read_ = true;
    const auto [ec] = co_await stream.wait(what);
    waiting_to_read_ = false;
    burst_ = 0;
    co_return ec;
}

awaitable<error_code> connection::fill()
{
    auto wait_for = tcp_socket::wait_read;
    bool ready = stream.has_buffered_bytes();
    for (;;) {
        if (reading_aborted_)
            co_return *reading_aborted_;
        if (!ready && !closing()) {
            const auto ec = co_await wait_to_read(wait_for);
            if (ec && !closing())
                co_return why_aborted(ec);
        }
        // A request that has arrived by the time the server stops is still served.
        const auto got = stream.read_now(input.prepare());
        if (!got.must_wait()) {
            input.commit(got.bytes);
            co_return got.ec;
        }
        input.release_if_empty();
        if (closing())
            co_return errc::shutting_down;
        wait_for = got.wait_for;
        ready = false;
    }
}

awaitable<result<std::size_t>> connection::read(asio::mutable_buffer into)
{
    if (burst_ >= longest_burst) {
        burst_ = 0;
        co_await asio::post(use_await);
    }
    for (;;) {
        if (reading_aborted_)
            co_return *reading_aborted_;
        const auto got = stream.read_now(into);
        if (!got.ec) {
            burst_ += got.bytes;
            co_return got.bytes;
        }
        if (!got.must_wait())
            co_return got.ec;
        const auto ec = co_await wait_to_read(got.wait_for);
        if (ec)
            co_return why_aborted(ec);
    }
}

// How much the peer has taken since its time was last set.
struct connection::write_pace {
    bool limited = false;
    std::size_t moved = 0;
    std::size_t in_kernel = 0;
};

awaitable<error_code> connection::wait_to_write(net_stream::wait_type what, write_pace& pace)
{
    if (!pace.limited || pace.moved >= progress_bytes) {
        limit_.expires_after(progress_window);
        pace.in_kernel = stream.unacknowledged();
        pace.moved = 0;
        pace.limited = true;
    }
    const auto [ec] = co_await stream.wait(what);
    if (!ec)
        co_return error_code{};
    if (ec != asio::error::operation_aborted || !limit_.expired())
        co_return why_aborted(ec);
    // The kernel wakes a writer only when a good part of its buffer is free again, which can take a slow
    // reader longer than the window; what counts is that the peer went on taking bytes.
    const auto left = stream.unacknowledged();
    if (pace.moved + pace.in_kernel < left + progress_bytes)
        co_return errc::request_timeout;
    pace.limited = false;
    co_return error_code{};
}

awaitable<error_code> connection::write(std::span<asio::const_buffer> buffers, bool more)
{
    write_pace pace;
    buffers = without_first(buffers, 0);
    while (!buffers.empty()) {
        const auto sent = stream.write_now(buffers, more);
        if (sent.must_wait()) {
            if (auto ec = co_await wait_to_write(sent.wait_for, pace))
                co_return ec;
            continue;
        }
        if (sent.ec)
            co_return sent.ec;
        pace.moved += sent.bytes;
        buffers = without_first(buffers, sent.bytes);
    }
    if (pace.limited)
        limit_.clear();
    co_return error_code{};
}

awaitable<error_code> connection::send_file(std::string_view head, file_part part)
{
    // A head in a packet of its own costs the client more than the server: half as much again for 1 MiB.
    std::array<asio::const_buffer, 1> first{asio::buffer(head)};
    if (auto ec = co_await write(first, part.length > 0))
        co_return ec;
    write_pace pace;
    std::size_t burst = 0;
    while (part.length > 0) {
        // The kernel may take megabytes at once; the shard's other connections get their turn.
        if (burst >= longest_file_burst) {
            burst = 0;
            co_await asio::post(use_await);
        }
        const auto length =
            static_cast<std::size_t>(std::min<std::uint64_t>(part.length, longest_file_burst));
        auto send = [&] { return stream.send_file_now(part.descriptor, part.first, length); };
        net_stream::attempt sent;
        if (are_cached(part, length))
            sent = send();
        else
            sent = co_await disk_workers().run(send);
        if (sent.ec && !sent.must_wait())
            co_return sent.ec;
        if (!sent.ec && sent.bytes == 0)
            co_return RESTANTE_ERROR(errc::content_lost);
        pace.moved += sent.bytes;
        part.first += sent.bytes;
        part.length -= sent.bytes;
        burst += sent.bytes;
        // A socket that took less than it was offered is full, and would only say so again.
        if (sent.bytes < length) {
            if (auto ec = co_await wait_to_write(sent.wait_for, pace))
                co_return ec;
            burst = 0;
        }
    }
    if (pace.limited)
        limit_.clear();
    co_return error_code{};
}

void connection::watch_for_end(std::function<void()> on_gone)
{
    unwatch();
    watch_ = std::make_shared<watch>(std::move(on_gone));
    if (input.empty() && !stream.has_buffered_bytes())
        watch_->arm(stream);
}

void connection::watch_for_end_behind_input(std::function<void()> on_gone)
{
    unwatch();
    watch_ = std::make_shared<watch>(std::move(on_gone));
    watch_->looks_again = true;
    if (input.empty() && !stream.has_buffered_bytes())
        watch_->arm(stream);
    else
        watch_->look_later(stream);
}

void connection::unwatch()
{
    if (!watch_)
        return;
    watch_->on_gone = nullptr;
    watch_->again.reset();
    watch_->stop.emit(asio::cancellation_type::terminal);
    watch_.reset();
}

void connection::stop()
{
    stopping_ = true;
    if (idle_)
        stream.cancel();
}

void connection::interrupt_reading()
{
    if (waiting_to_read_)
        stream.cancel();
}

void connection::abort_reading(errc why)
{
    stopping_ = true;
    reading_aborted_ = why;
    interrupt_reading();
}

bool connection::join(stranger_table& strangers)
{
    if (!strangers.add(stranger_, remote_))
        return false;
    strangers_ = &strangers;
    return true;
}

void connection::become_known()
{
    if (auto* table = std::exchange(strangers_, nullptr))
        table->remove(stranger_);
}

// During a handshake it is idle, and waits without waiting_to_read_.
bool connection::stranger::evict()
{
    const bool waits = self.waiting_to_read_ || self.idle_;
    if (!waits || std::chrono::steady_clock::now() - begun < time_to_speak)
        return false;
    self.abort_reading(errc::no_room);
    if (self.idle_)
        self.stream.cancel();
    return true;
}

}  // namespace restante
