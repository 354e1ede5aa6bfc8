#include "storage/content/s3/object_reader.hpp"
#include "storage/content/s3/put.hpp"
#include "test/support/log_capture.hpp"
#include "test/support/run.hpp"
#include "test/support/scripted_server.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <gmock/gmock.h>

namespace restante::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string object_bytes = "0123456789";

// The head of an answer with all that was asked for, and the bytes of it.
struct answer {
    std::string head;
    std::string body;
};

answer answer_to(const std::string& request)
{
    const std::string mark = "range: bytes=";
    const auto first = std::stoul(request.substr(request.find(mark) + mark.size()));
    auto body = object_bytes.substr(first);
    const auto last = std::to_string(object_bytes.size() - 1);
    return {"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " + std::to_string(first) + "-" + last +
                "/" + std::to_string(object_bytes.size()) +
                "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n",
            body};
}

void send_all(accepted_socket& to)
{
    const auto all = answer_to(to.read_until("\r\n\r\n"));
    to.send(all.head + all.body);
}

// The connection ends after the first byte.
void send_one_byte(accepted_socket& to)
{
    const auto all = answer_to(to.read_until("\r\n\r\n"));
    to.send(all.head + all.body.substr(0, 1));
}

// A store of one object that behaves as the script says.
class s3_session_test : public ::testing::Test {
protected:
    using body = std::function<awaitable<void>(s3::session)>;

    void with_session(std::uint16_t port, s3::attempt_limits limits, const body& work)
    {
        const auto endpoint = parse_http_url("http://127.0.0.1:" + std::to_string(port));
        const s3::bucket_place place{.endpoint = *endpoint, .bucket = "files", .prefix = ""};
        run([&]() -> awaitable<void> {
            system_resolver names;
            auto tls = make_client_tls_context("");
            dial_options options{.names = names, .judge = [](const auto&) { return true; }, .tls = *tls};
            http_client client(co_await asio::this_coro::executor, options);
            co_await work(s3::session(client, place, keys_, state_, limits));
            client.stop();
        });
    }

    static s3::object_reader reader_of(const s3::session& from)
    {
        return {from, "object", object_bytes.size(), {0, object_bytes.size()}};
    }

    // Reads up to `count` bytes.
    static awaitable<result<std::string>> read(s3::object_reader& from, std::size_t count)
    {
        std::string text;
        while (text.size() < count) {
            const auto piece = co_await from.next();
            if (!piece)
                co_return piece.error();
            if (piece->empty())
                break;
            text.append(piece->begin(), piece->end());
        }
        co_return text;
    }

    void fail(unsigned times)
    {
        for (unsigned i = 0; i < times; ++i)
            state_.note(s3::access::read, {s3::verdict::try_again, "the test says so"});
    }

    s3::credentials keys_{"", {"key", "secret"}};
    s3::health state_;
};

TEST_F(s3_session_test, a_reader_may_take_longer_than_any_attempt)
{
    std::promise<void> go_on;
    auto awaited = go_on.get_future();
    scripted_server store([&](accepted_socket& to, int) {
        const auto all = answer_to(to.read_until("\r\n\r\n"));
        to.send(all.head + all.body.substr(0, 1));
        awaited.wait();
        to.send(all.body.substr(1));
    });
    const s3::attempt_limits limits{.head = seconds(1), .whole = seconds(1)};
    with_session(store.port(), limits, [&](s3::session from) -> awaitable<void> {
        auto reader = reader_of(from);
        const auto first = co_await read(reader, 1);
        EXPECT_EQ(first.value(), "0");
        steady_timer pause(co_await asio::this_coro::executor, limits.whole + milliseconds(600));
        co_await pause.async_wait(use_await);
        go_on.set_value();
        const auto rest = co_await read(reader, 9);
        EXPECT_EQ(rest.value(), "123456789");
    });
    EXPECT_EQ(store.accepted(), 1);
}

TEST_F(s3_session_test, a_break_after_bytes_is_no_failure_of_the_store)
{
    scripted_server store([&](accepted_socket& to, int) { send_one_byte(to); });
    with_session(store.port(), {}, [&](s3::session from) -> awaitable<void> {
        auto reader = reader_of(from);
        EXPECT_EQ(co_await reader.open(), error_code());
        fail(s3::health::failures_to_open - 1);
        const auto all = co_await read(reader, object_bytes.size());
        EXPECT_EQ(all.value(), object_bytes);
    });
    EXPECT_EQ(store.accepted(), 10);
}

TEST_F(s3_session_test, whoever_has_begun_waits_for_a_store_that_is_away)
{
    scripted_server store(
        [&](accepted_socket& to, int index) { index == 0 ? send_one_byte(to) : send_all(to); });
    with_session(store.port(), {}, [&](s3::session from) -> awaitable<void> {
        auto reader = reader_of(from);
        EXPECT_EQ(co_await reader.open(), error_code());
        fail(s3::health::failures_to_open);
        auto late = reader_of(from);
        EXPECT_EQ(co_await late.open(), errc::content_store_unavailable) << "told at once";
        const auto all = co_await read(reader, object_bytes.size());
        EXPECT_EQ(all.value(), object_bytes);
    });
    EXPECT_FALSE(state_.trouble());
}

class unreadable_content final : public file_content {
public:
    std::uint64_t size() const override { return 10; }
    std::optional<std::span<const char>> in_memory() const override { return std::nullopt; }
    awaitable<result<std::span<const char>>> read(std::uint64_t, std::span<char>) override
    {
        co_return RESTANTE_ERROR(errc::io_error);
    }
};

TEST_F(s3_session_test, what_we_cannot_read_ourselves_says_nothing_of_the_store)
{
    scripted_server store([](accepted_socket& to, int) { to.read_rest(); });
    with_session(store.port(), {}, [&](s3::session to) -> awaitable<void> {
        for (unsigned i = 0; i < s3::health::failures_to_open; ++i) {
            unreadable_content bytes;
            EXPECT_EQ(co_await s3::put_object(to, "object", bytes, {}), errc::io_error);
        }
    });
    EXPECT_FALSE(state_.trouble());
}

TEST_F(s3_session_test, what_it_reports_belongs_to_the_trace_of_the_request)
{
    log_capture log;
    scripted_server store([](accepted_socket& to, int) {
        to.read_until("\r\n\r\n");
        to.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
    });
    const trace_context trace("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    with_session(store.port(), {}, [&](s3::session from) -> awaitable<void> {
        auto reader = reader_of(from.for_request(trace));
        EXPECT_EQ(co_await reader.open(), errc::content_store_unavailable);
    });
    EXPECT_THAT(log.lines(), ::testing::Contains(::testing::AllOf(
                                 ::testing::HasSubstr("s3_refused"),
                                 ::testing::HasSubstr("\"trace_id\":\"4bf92f3577b34da6a3ce929d0e0e4736\""))));
}

TEST_F(s3_session_test, a_store_that_breaks_off_before_any_byte_is_given_up)
{
    scripted_server store([&](accepted_socket& to, int index) {
        const auto all = answer_to(to.read_until("\r\n\r\n"));
        to.send(index == 0 ? all.head + all.body.substr(0, 1) : all.head);
    });
    with_session(store.port(), {}, [&](s3::session from) -> awaitable<void> {
        auto reader = reader_of(from);
        const auto all = co_await read(reader, object_bytes.size());
        EXPECT_EQ(all.error(), errc::content_store_unavailable);
    });
}

}  // namespace
}  // namespace restante::test
