#include "http/client/http_client.hpp"

#include "core/wakeup.hpp"
#include "http/client/address_policy.hpp"
#include "http/client/client_error.hpp"
#include "http/net/self_signed.hpp"
#include "http/session/request_context.hpp"
#include "server/api/common/callback_url.hpp"
#include "test/support/run.hpp"
#include "test/support/scripted_server.hpp"
#include "test/support/temporary_directory.hpp"
#include "test/support/test_server.hpp"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <deque>
#include <future>

namespace restante::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using clock = std::chrono::steady_clock;
namespace http = boost::beast::http;

// Says what the test has written down, one answer for each question.
class written_names final : public name_resolver {
public:
    explicit written_names(std::deque<std::vector<std::string>> answers) : answers_(std::move(answers)) {}

    awaitable<result<std::vector<asio::ip::address>>> resolve(std::string, time_point,
                                                              std::stop_token) override
    {
        ++asked;
        if (answers_.empty() || answers_.front().empty())
            co_return client_errc::name_not_found;
        std::vector<asio::ip::address> all;
        for (const auto& text : answers_.front())
            all.push_back(asio::ip::make_address(text));
        answers_.pop_front();
        co_return all;
    }

    int asked = 0;

private:
    std::deque<std::vector<std::string>> answers_;
};

class pieces final : public request_source {
public:
    pieces(std::vector<std::string> texts, bool chunked) : texts_(std::move(texts)), chunked_(chunked) {}

    std::optional<std::uint64_t> length() const override
    {
        if (chunked_)
            return std::nullopt;
        std::uint64_t all = 0;
        for (const auto& text : texts_)
            all += text.size();
        return all;
    }
    awaitable<result<std::span<const char>>> next() override
    {
        if (fails_at == asked_)
            co_return RESTANTE_ERROR(errc::request_too_large);
        if (asked_ == texts_.size())
            co_return std::span<const char>{};
        const auto& text = texts_[asked_++];
        co_return std::span<const char>(text.data(), text.size());
    }
    void interrupt() override {}

    std::size_t fails_at = SIZE_MAX;

private:
    std::vector<std::string> texts_;
    bool chunked_;
    std::size_t asked_ = 0;
};

// Never has anything until it is interrupted.
class silent_source final : public request_source {
public:
    explicit silent_source(executor ex) : interrupted_(ex) {}

    std::optional<std::uint64_t> length() const override { return std::nullopt; }
    awaitable<result<std::span<const char>>> next() override
    {
        if (!begun_) {
            begun_ = true;
            co_return std::span<const char>("x", 1);
        }
        co_await interrupted_.wait();
        co_return RESTANTE_ERROR(errc::client_gone);
    }
    void interrupt() override { interrupted_.notify_all(); }

private:
    wakeup interrupted_;
    bool begun_ = false;
};

struct outcome {
    error_code ec;
    unsigned status = 0;
    std::string body;
    std::string type;
};

class http_client_test : public testing::Test {
protected:
    static bool anything(const asio::ip::address&) { return true; }

    static client_request request_to(std::string url, http::verb method = http::verb::get)
    {
        auto parsed = parse_http_url(url);
        client_request what{.to = parsed->origin, .method = method, .target = "/t", .fields = {}};
        return what;
    }

    static std::string at(std::uint16_t port) { return "http://127.0.0.1:" + std::to_string(port); }

    static awaitable<outcome> exchange(http_client& client, client_request what, request_source* body,
                                       client_limits limits = {.whole = seconds(10)})
    {
        outcome out;
        auto one = client.begin(limits);
        out.ec = co_await one->send(std::move(what), body);
        if (out.ec)
            co_return out;
        out.status = one->head().result_int();
        out.type = one->head()[http::field::content_type];
        for (;;) {
            const auto piece = co_await one->read_some();
            if (!piece) {
                out.ec = piece.error();
                co_return out;
            }
            if (piece->empty())
                co_return out;
            out.body.append(piece->data(), piece->size());
        }
    }

    // A client of its own for one request.
    static outcome ask(client_request what, request_source* body = nullptr,
                       client_limits limits = {.whole = seconds(10)}, tls_context tls = nullptr)
    {
        outcome out;
        run([&]() -> awaitable<void> {
            written_names names({{"127.0.0.1"}});
            http_client client(co_await asio::this_coro::executor,
                               {.names = names, .judge = anything, .tls = tls});
            out = co_await exchange(client, what, body, limits);
        });
        return out;
    }

    static std::string many_interims(int count)
    {
        std::string many;
        for (int i = 0; i < count; ++i)
            many += "HTTP/1.1 102 Processing\r\n\r\n";
        return many;
    }

    // What a server that says exactly this is taken for.
    static outcome ask_one_that_says(std::string text, client_limits limits = {.whole = seconds(10)})
    {
        scripted_server server([&](accepted_socket& peer, int) {
            peer.read_until("\r\n\r\n");
            peer.send(text);
        });
        return ask(request_to(at(server.port())), nullptr, limits);
    }
};

TEST_F(http_client_test, reads_every_framing)
{
    const std::pair<std::string, std::string> rows[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ""},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n",
         "hello"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ""},
        {"HTTP/1.1 200 OK\r\n\r\nhello until the end", "hello until the end"},
        {"HTTP/1.0 200 OK\r\n\r\nold", "old"},
        {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok"},
        {"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: " + std::string(8000, 'x') +
             "\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
         "ok"},
        {many_interims(most_interims) + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok"},
        {"HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok", "ok"},
    };
    for (const auto& [text, body] : rows) {
        const auto out = ask_one_that_says(text);
        EXPECT_FALSE(out.ec) << text << out.ec.message();
        EXPECT_EQ(out.status, 200u) << text;
        EXPECT_EQ(out.body, body) << text;
    }
}

TEST_F(http_client_test, the_answer_to_head_has_the_length_that_it_says_or_none)
{
    const std::pair<std::string, std::optional<std::uint64_t>> rows[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", 7},
        {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 0},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", std::nullopt},
        {"HTTP/1.1 200 OK\r\n\r\n", std::nullopt},
    };
    for (const auto& [text, length] : rows) {
        scripted_server server([&](accepted_socket& peer, int) {
            peer.read_until("\r\n\r\n");
            peer.send(text);
        });
        run([&]() -> awaitable<void> {
            system_resolver names;
            http_client client(co_await asio::this_coro::executor,
                               {.names = names, .judge = anything, .tls = nullptr});
            auto one = client.begin({.whole = seconds(10)});
            const auto what = request_to(at(server.port()), http::verb::head);
            const auto ec = co_await one->send(what, nullptr);
            EXPECT_FALSE(ec) << text << ec.message();
            EXPECT_TRUE(one->at_end()) << text;
            EXPECT_EQ(one->length(), length) << text;
            one.reset();
            client.stop();
        });
    }
}

TEST_F(http_client_test, takes_nothing_else_for_an_answer)
{
    const std::string rows[] = {
        "",
        "garbage\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhel\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n3\r\nhel\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nhell",
        "HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nhell",
        "HTTP/1.1 200 OK\r\nX: " + std::string(17 * 1024, 'x') + "\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        "HTTP/1.1 600 X\r\nContent-Length: 0\r\n\r\n",
        many_interims(most_interims + 1) + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    };
    for (const auto& text : rows)
        EXPECT_EQ(ask_one_that_says(text).ec, client_errc::broken) << text.substr(0, 80);
}

TEST_F(http_client_test, does_not_follow_redirects)
{
    const auto out =
        ask_one_that_says("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
    EXPECT_FALSE(out.ec);
    EXPECT_EQ(out.status, 302u);
}

TEST_F(http_client_test, sends_bodies_with_length_and_in_chunks)
{
    for (const bool chunked : {false, true}) {
        std::string seen;
        scripted_server server([&](accepted_socket& peer, int) {
            seen = peer.read_until("\r\n\r\n");
            seen += chunked ? peer.read_until("0\r\n\r\n") : peer.read(8);
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        });
        pieces body({"hello", "you"}, chunked);
        const auto out = ask(request_to(at(server.port()), http::verb::post), &body);
        EXPECT_FALSE(out.ec) << out.ec.message();
        const std::string host = "Host: 127.0.0.1:" + std::to_string(server.port()) + "\r\n";
        EXPECT_EQ(seen, "POST /t HTTP/1.1\r\n" + host +
                            (chunked ? "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3\r\nyou\r\n0\r\n\r\n"
                                     : "Content-Length: 8\r\n\r\nhelloyou"));
    }
}

TEST_F(http_client_test, a_source_that_fails_leaves_a_request_that_is_not_whole)
{
    for (const bool chunked : {false, true}) {
        std::promise<std::string> read;
        auto reading = read.get_future();
        scripted_server server([&](accepted_socket& peer, int) { read.set_value(peer.read_rest()); });
        pieces body({"hello", "you"}, chunked);
        body.fails_at = 1;
        const auto out = ask(request_to(at(server.port()), http::verb::post), &body);
        EXPECT_EQ(out.ec, errc::request_too_large);
        ASSERT_EQ(reading.wait_for(seconds(5)), std::future_status::ready);
        const auto seen = reading.get();
        EXPECT_TRUE(seen.ends_with(chunked ? "5\r\nhello\r\n" : "hello")) << seen;
    }
}

TEST_F(http_client_test, an_early_answer_ends_the_sending)
{
    // Longer than all the buffers on the way, so that the client is waiting for room.
    const std::vector<std::string> much(64, std::string(1024 * 1024, 'x'));
    scripted_server server([&](accepted_socket& peer, int) {
        peer.read_until("\r\n\r\n");
        peer.send(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n"
            "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nno.");
        peer.read_until("never there");
    });
    pieces body(much, false);
    const auto out = ask(request_to(at(server.port()), http::verb::post), &body);
    EXPECT_FALSE(out.ec) << out.ec.message();
    EXPECT_EQ(out.status, 413u);
    EXPECT_EQ(out.body, "no.");
}

TEST_F(http_client_test, an_early_answer_does_not_wait_for_a_silent_source)
{
    scripted_server server([&](accepted_socket& peer, int) {
        peer.read_until("x");
        peer.send("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
        peer.read_rest();
    });
    run([&]() -> awaitable<void> {
        const auto ex = co_await asio::this_coro::executor;
        system_resolver names;
        http_client client(ex, {.names = names, .judge = anything, .tls = nullptr});
        silent_source body(ex);
        const auto what = request_to(at(server.port()), http::verb::post);
        const auto begun = clock::now();
        const auto out = co_await exchange(client, what, &body);
        EXPECT_EQ(out.status, 401u) << out.ec.message();
        EXPECT_LT(clock::now() - begun, seconds(4));
    });
}

TEST_F(http_client_test, a_reset_in_the_middle_is_broken)
{
    const std::vector<std::string> much(64, std::string(1024 * 1024, 'x'));
    scripted_server server([&](accepted_socket& peer, int) {
        peer.read(100'000);
        peer.reset();
    });
    pieces body(much, true);
    EXPECT_EQ(ask(request_to(at(server.port()), http::verb::post), &body).ec, client_errc::broken);
}

TEST_F(http_client_test, the_limit_holds_for_a_server_that_never_answers)
{
    scripted_server server([&](accepted_socket& peer, int) { peer.read_rest(); });
    const auto begun = clock::now();
    EXPECT_EQ(ask(request_to(at(server.port())), nullptr, {.whole = milliseconds(300)}).ec,
              client_errc::late);
    EXPECT_LT(clock::now() - begun, seconds(4));
}

TEST_F(http_client_test, an_answer_has_its_own_limit_to_begin_which_its_body_does_not_share)
{
    const client_limits limits{.whole = seconds(10), .head = milliseconds(300)};
    scripted_server silent([&](accepted_socket& peer, int) { peer.read_rest(); });
    const auto begun = clock::now();
    EXPECT_EQ(ask(request_to(at(silent.port())), nullptr, limits).ec, client_errc::late);
    EXPECT_LT(clock::now() - begun, seconds(4));

    scripted_server slow([&](accepted_socket& peer, int) {
        peer.read_until("\r\n\r\n");
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
        std::this_thread::sleep_for(milliseconds(600));  // longer than the head may take
        peer.send("ok");
    });
    EXPECT_EQ(ask(request_to(at(slow.port())), nullptr, limits).body, "ok");
}

TEST_F(http_client_test, cancel_ends_what_waits)
{
    scripted_server server([&](accepted_socket& peer, int) { peer.read_rest(); });
    run([&]() -> awaitable<void> {
        const auto ex = co_await asio::this_coro::executor;
        system_resolver names;
        http_client client(ex, {.names = names, .judge = anything, .tls = nullptr});
        auto one = client.begin({.whole = seconds(10)});
        deadline soon(ex, [&one] { one->cancel(); });
        soon.expires_after(milliseconds(100));
        const auto what = request_to(at(server.port()));
        const auto ec = co_await one->send(what, nullptr);
        EXPECT_EQ(ec, client_errc::cancelled);
    });
}

// What a name leads to that the system never finds out.
class silent_names final : public name_resolver {
public:
    explicit silent_names(executor ex) : stopped_(ex) {}

    awaitable<result<std::vector<asio::ip::address>>> resolve(std::string, time_point until,
                                                              std::stop_token stop) override
    {
        const std::stop_callback on_stop(stop, [this] { stopped_.notify_all(); });
        const bool stopped = co_await stopped_.wait_until(until);
        co_return stopped ? client_errc::cancelled : client_errc::late;
    }

private:
    wakeup stopped_;
};

// A listener whose queue is full: the kernel lets the next connect wait.
class full_listener {
public:
    full_listener() : acceptor_(io_, tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0))
    {
        acceptor_.listen(0);
        tcp_socket first(io_);
        first.connect(acceptor_.local_endpoint());
        waiting_.push_back(std::move(first));
    }

    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

private:
    asio::io_context io_;
    tcp_acceptor acceptor_;
    std::vector<tcp_socket> waiting_;
};

TEST_F(http_client_test, cancel_ends_every_step_of_dialling)
{
    full_listener full;
    scripted_server silent([&](accepted_socket& peer, int) { peer.read_rest(); });
    const auto tls = make_client_tls_context("");
    ASSERT_TRUE(tls);
    for (const auto& url : {std::string("http://silent.example"), at(full.port()),
                            "https://127.0.0.1:" + std::to_string(silent.port())}) {
        run([&]() -> awaitable<void> {
            const auto ex = co_await asio::this_coro::executor;
            silent_names names(ex);
            http_client client(ex, {.names = names, .judge = anything, .tls = *tls});
            auto one = client.begin({.whole = seconds(10)});
            deadline soon(ex, [&one] { one->cancel(); });
            soon.expires_after(milliseconds(100));
            const auto begun = clock::now();
            const auto what = request_to(url);
            const auto ec = co_await one->send(what, nullptr);
            EXPECT_EQ(ec, client_errc::cancelled) << url;
            EXPECT_LT(clock::now() - begun, seconds(4)) << url;
        });
    }
}

TEST_F(http_client_test, the_system_is_not_waited_for_after_a_stop)
{
    run([&]() -> awaitable<void> {
        system_resolver names;
        std::stop_source stop;
        stop.request_stop();
        const auto until = clock::now() + seconds(10);
        const auto found = co_await names.resolve("localhost", until, stop.get_token());
        EXPECT_EQ(found.error(), client_errc::cancelled);
    });
}

TEST_F(http_client_test, connecting_and_shaking_hands_have_limits_of_their_own)
{
    full_listener full;
    scripted_server silent([&](accepted_socket& peer, int) { peer.read_rest(); });
    const auto tls = make_client_tls_context("");
    ASSERT_TRUE(tls);
    const auto error_within = [&](std::string url, milliseconds to_connect, milliseconds to_shake_hands) {
        error_code ec;
        run([&]() -> awaitable<void> {
            system_resolver names;
            http_client client(co_await asio::this_coro::executor, {.names = names,
                                                                    .judge = anything,
                                                                    .tls = *tls,
                                                                    .connect_limit = to_connect,
                                                                    .handshake_limit = to_shake_hands});
            const auto begun = clock::now();
            const auto what = request_to(url);
            const auto out = co_await exchange(client, what, nullptr);
            ec = out.ec;
            EXPECT_LT(clock::now() - begun, seconds(4)) << url;
        });
        return ec;
    };
    EXPECT_EQ(error_within(at(full.port()), milliseconds(200), seconds(8)), client_errc::late);
    const auto shakes_no_hands = "https://127.0.0.1:" + std::to_string(silent.port());
    EXPECT_EQ(error_within(shakes_no_hands, seconds(8), milliseconds(200)), client_errc::late);
}

TEST_F(http_client_test, connections_are_kept_and_a_closed_one_is_not_used)
{
    scripted_server server([&](accepted_socket& peer, int index) {
        for (int i = 0; i < (index == 0 ? 2 : 1); ++i) {
            peer.read_until("\r\n\r\n");
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + std::to_string(index));
        }
    });
    run([&]() -> awaitable<void> {
        system_resolver names;
        http_client client(co_await asio::this_coro::executor,
                           {.names = names, .judge = anything, .tls = nullptr});
        std::string bodies;
        for (int i = 0; i < 3; ++i) {
            const auto what = request_to(at(server.port()));
            const auto out = co_await exchange(client, what, nullptr);
            EXPECT_FALSE(out.ec) << out.ec.message();
            bodies += out.body;
        }
        EXPECT_EQ(bodies, "001");
        client.stop();
    });
    EXPECT_EQ(server.accepted(), 2);
}

TEST_F(http_client_test, bytes_that_nobody_asked_for_end_a_connection)
{
    scripted_server server([&](accepted_socket& peer, int index) {
        peer.read_until("\r\n\r\n");
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + std::to_string(index) +
                  "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nX");
        peer.read_rest();
    });
    run([&]() -> awaitable<void> {
        system_resolver names;
        http_client client(co_await asio::this_coro::executor,
                           {.names = names, .judge = anything, .tls = nullptr});
        for (const std::string expected : {"0", "1"}) {
            const auto what = request_to(at(server.port()));
            const auto out = co_await exchange(client, what, nullptr);
            EXPECT_EQ(out.body, expected);
        }
        client.stop();
    });
}

TEST_F(http_client_test, the_address_that_was_judged_is_the_address_that_is_dialled)
{
    scripted_server server([&](accepted_socket& peer, int) {
        peer.read_until("\r\n\r\n");
        peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\ny");
    });
    run([&]() -> awaitable<void> {
        // Allowed when it is asked first; afterwards the name leads to a network that is not allowed. A
        // client that resolves once to judge and once more to connect ends up there.
        written_names names({{"127.0.0.1"}, {"10.0.0.1"}});
        const address_policy policy{.loopback = true};
        http_client client(co_await asio::this_coro::executor,
                           {.names = names,
                            .judge = [&](const asio::ip::address& a) { return policy.allows(a); },
                            .tls = nullptr});
        const auto what = request_to("http://moving.example:" + std::to_string(server.port()));
        const auto first = co_await exchange(client, what, nullptr);
        EXPECT_EQ(first.body, "y") << first.ec.message();
        EXPECT_EQ(names.asked, 1);
        const auto second = co_await exchange(client, what, nullptr);
        EXPECT_EQ(second.ec, client_errc::address_refused);
        EXPECT_EQ(names.asked, 2);
    });
    EXPECT_EQ(server.accepted(), 1);
}

TEST_F(http_client_test, one_refused_address_refuses_the_name)
{
    scripted_server server([&](accepted_socket& peer, int) { peer.read_rest(); });
    run([&]() -> awaitable<void> {
        written_names names({{"127.0.0.1", "169.254.169.254"}, {}});
        const address_policy policy{.loopback = true, .private_ = true};
        http_client client(co_await asio::this_coro::executor,
                           {.names = names,
                            .judge = [&](const asio::ip::address& a) { return policy.allows(a); },
                            .tls = nullptr});
        const auto what = request_to("http://two.example:" + std::to_string(server.port()));
        const auto refused = co_await exchange(client, what, nullptr);
        EXPECT_EQ(refused.ec, client_errc::address_refused);
        const auto unknown = co_await exchange(client, what, nullptr);
        EXPECT_EQ(unknown.ec, client_errc::name_not_found);
    });
    EXPECT_EQ(server.accepted(), 0);
}

TEST_F(http_client_test, goes_on_to_the_next_address)
{
    scripted_server server([&](accepted_socket& peer, int) {
        peer.read_until("\r\n\r\n");
        peer.send("HTTP/1.1 204 No Content\r\n\r\n");
    });
    run([&]() -> awaitable<void> {
        written_names names({{"127.0.0.2", "127.0.0.1"}});
        http_client client(co_await asio::this_coro::executor,
                           {.names = names, .judge = anything, .tls = nullptr});
        const auto what = request_to("http://two.example:" + std::to_string(server.port()));
        const auto out = co_await exchange(client, what, nullptr);
        EXPECT_EQ(out.status, 204u) << out.ec.message();
        client.stop();
    });
}

TEST_F(http_client_test, the_system_resolves_names)
{
    run([&]() -> awaitable<void> {
        system_resolver names;
        const auto until = clock::now() + seconds(10);
        // Neither needs a file of names or a server that knows them: the one is another way to write an
        // address, the other longer than a label may be.
        const auto here = co_await names.resolve("127.1", until, {});
        EXPECT_TRUE(here && here->front().is_loopback());
        const auto nowhere = co_await names.resolve(std::string(70, 'x'), until, {});
        EXPECT_FALSE(nowhere);
    });
}

TEST_F(http_client_test, nobody_listens)
{
    EXPECT_EQ(ask(request_to("http://127.0.0.1:1")).ec, client_errc::connect_failed);
}

awaitable<response> handle_hello(request_context& req)
{
    co_return req.json(http::status::ok, std::string("\"hello\""));
}

TEST_F(http_client_test, tls_is_verified)
{
    const temporary_directory folder;
    const auto files = make_self_signed_if_needed(folder.path());
    ASSERT_TRUE(files);
    const auto served = make_tls_context(*files);
    ASSERT_TRUE(served);
    test_server server({.routes = {{http::verb::get, "/t", scope::open, body_mode::none, 1024, handle_hello}},
                        .tls = *served});
    const auto port = std::to_string(server.tls_port());

    const auto trusting = make_client_tls_context(files->certificate);
    ASSERT_TRUE(trusting) << trusting.error().message;
    for (const std::string host : {"localhost", "127.0.0.1"}) {
        const auto out = ask(request_to("https://" + host + ":" + port), nullptr, {}, *trusting);
        EXPECT_EQ(out.body, "\"hello\"") << host << ": " << out.ec.message();
    }

    const auto strict = make_client_tls_context("");
    ASSERT_TRUE(strict);
    EXPECT_EQ(ask(request_to("https://localhost:" + port), nullptr, {}, *strict).ec,
              client_errc::certificate_untrusted);

    // The certificate is trusted, but it is another host's.
    run([&]() -> awaitable<void> {
        written_names names({{"127.0.0.1"}});
        http_client client(co_await asio::this_coro::executor,
                           {.names = names, .judge = anything, .tls = *trusting});
        const auto what = request_to("https://other.example:" + port);
        const auto out = co_await exchange(client, what, nullptr);
        EXPECT_EQ(out.ec, client_errc::certificate_of_other_host);
    });

    // Not TLS at all.
    EXPECT_EQ(
        ask(request_to("https://127.0.0.1:" + std::to_string(server.port())), nullptr, {}, *trusting).ec,
        client_errc::tls_failed);
    EXPECT_FALSE(make_client_tls_context("/no/such/file"));
}

TEST_F(http_client_test, a_certificate_that_has_expired_is_no_untrusted_one)
{
    const temporary_directory folder;
    const auto files = make_self_signed_if_needed(folder.path());
    ASSERT_TRUE(files);
    const auto served = make_tls_context(*files);
    ASSERT_TRUE(served);
    auto* context = served->get();
    const std::unique_ptr<X509, decltype(&X509_free)> old(X509_dup(SSL_CTX_get0_certificate(context)),
                                                          X509_free);
    X509_gmtime_adj(X509_getm_notBefore(old.get()), -7200);
    X509_gmtime_adj(X509_getm_notAfter(old.get()), -3600);
    ASSERT_GT(X509_sign(old.get(), SSL_CTX_get0_privatekey(context), EVP_sha256()), 0);
    ASSERT_EQ(SSL_CTX_use_certificate(context, old.get()), 1);
    const auto path = (folder.path() / "old.pem").string();
    {
        const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new_file(path.c_str(), "w"), BIO_free);
        ASSERT_EQ(PEM_write_bio_X509(out.get(), old.get()), 1);
    }
    test_server server({.routes = {{http::verb::get, "/t", scope::open, body_mode::none, 1024, handle_hello}},
                        .tls = *served});
    const auto trusting = make_client_tls_context(path);
    ASSERT_TRUE(trusting);
    const auto url = "https://127.0.0.1:" + std::to_string(server.tls_port());
    EXPECT_EQ(ask(request_to(url), nullptr, {}, *trusting).ec, client_errc::certificate_expired);
}

// As a server does that is being restarted. It says nothing about its certificate.
TEST_F(http_client_test, a_peer_that_goes_away_while_shaking_hands_is_broken)
{
    const auto tls = make_client_tls_context("");
    ASSERT_TRUE(tls);
    const auto shake_hands_with = [&](std::function<void(accepted_socket&)> script) {
        scripted_server server([&](accepted_socket& peer, int) { script(peer); });
        const auto url = "https://127.0.0.1:" + std::to_string(server.port());
        return ask(request_to(url), nullptr, {.whole = seconds(10)}, *tls).ec;
    };
    EXPECT_EQ(shake_hands_with([](auto& peer) {
                  peer.read(5);
                  peer.reset();
              }),
              client_errc::broken);
    EXPECT_EQ(shake_hands_with([](auto& peer) { peer.read(5); }), client_errc::broken) << "the end";
    // An alert is an answer: this peer will not do it the next time either.
    EXPECT_EQ(shake_hands_with([](auto& peer) {
                  peer.read(5);
                  peer.send(std::string("\x15\x03\x03\0\x02\x02\x28", 7));
                  peer.read_rest();
              }),
              client_errc::tls_failed);
}

TEST(callback, a_name_is_resolved_and_judged_at_registration)
{
    struct row {
        const char* url;
        std::vector<std::string> addresses;
        bool taken;
    };
    const row rows[] = {{"http://a.example/", {"93.184.216.34"}, true},
                        {"http://a.example/", {"169.254.169.254"}, false},
                        {"http://a.example/", {"93.184.216.34", "10.0.0.1"}, false},
                        {"https://a.example/", {"::ffff:127.0.0.1"}, false},
                        {"http://a.example/", {}, true},  // it may get an address before it is called
                        {"http://93.184.216.34/", {"10.0.0.1"}, true},
                        {"http://10.0.0.1/", {"93.184.216.34"}, false},
                        {"ftp://a.example/", {"93.184.216.34"}, false}};
    for (const auto& each : rows) {
        run([&]() -> awaitable<void> {
            written_names names({each.addresses});
            const callback_rules rules{.allowed = {}, .names = names};
            const auto refused = co_await check_new_callback(each.url, rules);
            EXPECT_EQ(!refused, each.taken) << each.url << ' ' << each.addresses.size();
        });
    }
}

}  // namespace
}  // namespace restante::test
