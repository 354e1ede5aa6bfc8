#include "http/client/early_answer.hpp"

#include "http/client/client_request.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

namespace restante {

// Outlives its owner by the moment that a cancelled wait needs to come back.
struct early_answer::watch : std::enable_shared_from_this<watch> {
    watch(connection& watched, std::function<void()> callback) : conn(watched), on_answer(std::move(callback))
    {
    }

    void arm()
    {
        auto seen = [self = shared_from_this()](error_code) { self->look(); };
        conn.stream.socket().async_wait(tcp_socket::wait_read,
                                        asio::bind_cancellation_slot(stop.slot(), std::move(seen)));
    }

    // A wait that was cancelled for somebody else's sake is begun again.
    void look()
    {
        if (!on_answer)
            return;
        // What TLS has taken from the socket would not wake another wait.
        do {
            const auto got = conn.stream.read_now(conn.input.prepare());
            conn.input.commit(got.bytes);
            if (got.must_wait())
                return arm();
            if (got.ec || !is_interim()) {
                const auto callback = std::exchange(on_answer, nullptr);
                return callback();
            }
        } while (conn.stream.has_buffered_bytes());
        arm();
    }

    bool is_interim()
    {
        auto found = find_interim(conn.input.view());
        while (found.what == interim::complete && passed++ < most_interims) {
            conn.input.consume(found.size);
            if (conn.input.empty())
                return true;
            found = find_interim(conn.input.view());
        }
        return found.what == interim::incomplete;
    }

    connection& conn;
    std::function<void()> on_answer;
    asio::cancellation_signal stop;
    int passed = 0;
};

early_answer::early_answer(connection& conn, std::function<void()> on_answer)
    : watch_(std::make_shared<watch>(conn, std::move(on_answer)))
{
    watch_->arm();
}

early_answer::~early_answer()
{
    watch_->on_answer = nullptr;
    watch_->stop.emit(asio::cancellation_type::terminal);
}

}  // namespace restante
