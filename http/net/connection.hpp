#pragma once

#include "core/asio.hpp"
#include "core/deadline.hpp"
#include "core/error.hpp"
#include "http/net/file_part.hpp"
#include "http/net/input_buffer.hpp"
#include "http/net/net_stream.hpp"
#include "http/net/stranger_table.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/intrusive/list_hook.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace restante {

// A stream, the bytes read ahead from it, and its one deadline. Errors of reading and writing are those of
// net_stream, and besides:
//   errc::request_timeout  the deadline passed, or the peer is too slow
//   errc::shutting_down    the server stops and does not wait any longer
//   errc::no_room          a stranger's connection was ended in favour of another
class connection
    : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    explicit connection(net_stream established);
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    ~connection();

    net_stream stream;
    input_buffer input;

    const asio::ip::address& remote() const { return remote_; }
    std::string_view remote_text() const { return remote_text_; }

    // The deadline of the current wait for the peer. write() sets its own.
    deadline& limit() { return limit_; }

    // Waits for bytes and adds them to input. Nothing is allocated before they arrive.
    awaitable<error_code> fill();

    // Reads, and waits only when nothing has arrived: for a peer that is in the middle of sending.
    awaitable<result<std::size_t>> read(asio::mutable_buffer into);

    // Sends everything. A peer may be slow, but it must take at least 1 KiB/s, measured over 10 s. With
    // `more` the kernel may keep the last bytes until those that follow at once.
    awaitable<error_code> write(std::span<asio::const_buffer> buffers, bool more = false);

    // The same for a head and a part of a file, which is not copied; not for TLS. What is not in the page
    // cache is read by a worker. errc::content_lost when the file is shorter.
    awaitable<error_code> send_file(std::string_view head, file_part part);

    // Calls back once when the peer ends or breaks the connection while nobody reads from it. Bytes that
    // arrive (the next request) end the watch. Takes effect until unwatch().
    void watch_for_end(std::function<void()> on_gone);
    // The same while bytes of the peer's may be waiting that are not wanted yet. As they keep the socket
    // readable, the end behind them is looked for from time to time.
    void watch_for_end_behind_input(std::function<void()> on_gone);
    void unwatch();

    // A connection is idle between two requests; graceful shutdown closes it there.
    void set_idle(bool idle) { idle_ = idle; }
    void stop();
    bool stopping() const { return stopping_; }

    // Makes a read that is waiting come back with operation_aborted; the next one works as before.
    void interrupt_reading();

    // Ends whatever waits for the peer, with errc::shutting_down; answers can still be sent.
    void abort_reading() { abort_reading(errc::shutting_down); }

    // Counts it among the strangers until become_known() or its end. False when its address has too many.
    bool join(stranger_table& strangers);
    void become_known();

private:
    struct watch;
    struct stranger final : stranger_table::entry {
        explicit stranger(connection& which) : self(which) {}
        bool evict() override;
        connection& self;
        std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
    };

    struct write_pace;
    awaitable<error_code> wait_to_write(net_stream::wait_type what, write_pace& pace);
    awaitable<error_code> wait_to_read(net_stream::wait_type what);
    void abort_reading(errc why);
    bool closing() const { return stopping_ && idle_; }
    error_code why_aborted(const error_code& ec) const;

    asio::ip::address remote_;
    std::string remote_text_;  // made once, for every log line
    deadline limit_;
    std::shared_ptr<watch> watch_;
    bool idle_ = false;
    bool stopping_ = false;
    std::optional<errc> reading_aborted_;
    bool waiting_to_read_ = false;
    stranger stranger_{*this};
    stranger_table* strangers_ = nullptr;
    std::size_t burst_ = 0;  // bytes read since this connection last waited
};

}  // namespace restante
