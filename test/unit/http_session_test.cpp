// The session on real sockets, with handlers written for these tests. No database.
#include "http/session/http_session.hpp"

#include "core/wakeup.hpp"
#include "http/message/response_writer.hpp"
#include "http/net/connection.hpp"
#include "http/session/request_context.hpp"
#include "test/support/raw_client.hpp"
#include "test/support/test_server.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <numeric>
#include <thread>

namespace restante::test {
namespace {

using std::chrono::milliseconds;

std::uint64_t sum_of(std::string_view bytes)
{
    return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}, [](std::uint64_t sum, char c) {
        return sum * 31 + static_cast<unsigned char>(c);
    });
}

// Reads the whole body and responds with its length and checksum.
awaitable<response> handle_count(request_context& req)
{
    std::uint64_t bytes = 0;
    std::uint64_t sum = 0;
    std::size_t largest = 0;
    for (;;) {
        const auto block = co_await req.body().read_some();
        if (!block)
            co_return req.fail(block.error());
        if (block->empty())
            break;
        bytes += block->size();
        largest = std::max(largest, block->size());
        for (const char c : *block)
            sum = sum * 31 + static_cast<unsigned char>(c);
    }
    EXPECT_LE(largest, body_reader::block_size);
    const boost::json::value body = boost::json::object{{"bytes", bytes}, {"sum", std::to_string(sum)}};
    co_return req.json(http::status::ok, body);
}

awaitable<response> handle_json(request_context& req)
{
    const auto value = co_await req.json_body();
    if (!value)
        co_return req.fail(value.error());
    co_return req.json(http::status::ok, *value);
}

awaitable<response> handle_refusal(request_context& req)
{
    co_return req.fail(errc::forbidden);
}

awaitable<response> handle_bug(request_context&)
{
    throw std::runtime_error("secret detail");
    co_return response{};
}

awaitable<response> handle_fields(request_context& req)
{
    const auto read = co_await req.body().discard();
    if (!read)
        co_return req.fail(read.error());
    const boost::json::value body = boost::json::object{
        {"authorization", req.header(http::field::authorization)}, {"remote", req.remote_text()}};
    co_return req.json(http::status::ok, body);
}

// Waits until the client disconnects or the server stops.
std::atomic<int> parked = 0;
std::atomic<int> abandoned = 0;
task_group* running_requests = nullptr;

awaitable<response> handle_park(request_context& req)
{
    wakeup ended(co_await asio::this_coro::executor);
    bool gone = false;
    req.on_client_gone([&] {
        gone = true;
        ended.notify_all();
    });
    const task_group::stop_callback stopping(*running_requests, [&] { ended.notify_all(); });
    ++parked;
    co_await ended.wait();
    --parked;
    req.forget_client();
    if (gone)
        ++abandoned;
    co_return req.json(http::status::ok, std::string("[]"));
}

std::promise<bool>* download_finished = nullptr;

class pattern_source : public body_source {
public:
    pattern_source(std::uint64_t length, std::uint64_t breaks_at) : length_(length), breaks_at_(breaks_at) {}

    std::optional<std::uint64_t> length() const override { return length_; }

    awaitable<result<std::span<const char>>> next() override
    {
        if (sent_ >= breaks_at_)
            co_return RESTANTE_ERROR(errc::database_unavailable);
        const auto size = std::min<std::uint64_t>(block_.size(), length_ - sent_);
        sent_ += size;
        co_return std::span<const char>(block_.data(), size);
    }

    void finished(bool all_bytes_sent) override
    {
        if (download_finished)
            download_finished->set_value(all_bytes_sent);
    }

private:
    std::uint64_t length_;
    std::uint64_t breaks_at_;
    std::uint64_t sent_ = 0;
    std::string block_ = std::string(64 * 1024, 'x');
};

awaitable<response> download(std::uint64_t length, std::uint64_t breaks_at)
{
    response answer;
    answer.head.result(http::status::ok);
    answer.body = std::make_unique<pattern_source>(length, breaks_at);
    co_return answer;
}

awaitable<response> handle_download(request_context&)
{
    return download(8 << 20, UINT64_MAX);
}

awaitable<response> handle_broken_download(request_context&)
{
    return download(8 << 20, 1 << 20);
}

awaitable<void> echo_one_line(connection& conn, const request_header&)
{
    if (conn.input.empty()) {
        const auto ec = co_await conn.fill();
        if (ec)
            co_return;
    }
    std::array<asio::const_buffer, 1> line{conn.input.data()};
    co_await conn.write(line);
}

awaitable<response> handle_takeover(request_context&)
{
    response answer;
    answer.body = takeover(echo_one_line);
    co_return answer;
}

using enum http::verb;
using enum scope;
using enum body_mode;

const std::vector<route> test_routes = {
    {post, "/count", open, streamed, 4 << 20, handle_count},
    {post, "/known/json", heartbeat, buffered, 1 << 20, handle_json},
    {post, "/json", open, buffered, 1 << 20, handle_json},
    {post, "/refuse", open, streamed, 64 << 20, handle_refusal},
    {post, "/guarded", upload, streamed, 64 << 20, handle_count},
    {get, "/bug", open, body_mode::none, 0, handle_bug},
    {post, "/fields", open, streamed, 1 << 20, handle_fields},
    {post, "/ack", open, body_mode::none, 1024, handle_refusal},
    {post, "/guarded-ack", upload, body_mode::none, 1024, handle_refusal},
    {get, "/park", open, body_mode::none, 0, handle_park},
    {get, "/download", open, body_mode::none, 0, handle_download},
    {get, "/broken", open, body_mode::none, 0, handle_broken_download},
    {get, "/takeover", open, body_mode::none, 0, handle_takeover},
};

class only_the_good : public access_policy {
public:
    awaitable<answerable<request_caller>> authorise(const request_context& request) override
    {
        ++asked;
        if (request.header(http::field::authorization) != "Bearer good")
            co_return refusal(errc::missing_token);
        if (revoked)
            co_return refusal(errc::invalid_token);
        co_return request_caller::of(0, true, account);
    }

    std::atomic<int> asked = 0;
    std::atomic<bool> revoked = false;
    uuid account{};
};

class http_session : public ::testing::Test {
protected:
    static test_server::options quick()
    {
        test_server::options chosen;
        chosen.routes = test_routes;
        chosen.timeouts.header = milliseconds(300);
        chosen.timeouts.idle = milliseconds(700);
        chosen.timeouts.caller = std::chrono::minutes(1);  // no body of these tests takes long
        return chosen;
    }

    only_the_good access_;
    test_server::options options_ = [this] {
        auto chosen = quick();
        chosen.access = &access_;
        return chosen;
    }();
    test_server server_{options_};

    void SetUp() override { running_requests = &server_.requests(); }
};

std::string post_request(std::string_view path, std::string_view fields, std::string_view body = {})
{
    std::string text = "POST ";
    text.append(path).append(" HTTP/1.1\r\nHost: localhost\r\n").append(fields).append("\r\n").append(body);
    return text;
}

std::string get_request(std::string_view path, std::string_view fields = {})
{
    std::string text = "GET ";
    text.append(path).append(" HTTP/1.1\r\nHost: localhost\r\n").append(fields).append("\r\n");
    return text;
}

std::string counted(std::string_view body)
{
    return R"({"bytes":)" + std::to_string(body.size()) + R"(,"sum":")" + std::to_string(sum_of(body)) +
           "\"}";
}

template <class Condition>
bool eventually(Condition condition)
{
    for (int i = 0; i < 500; ++i) {
        if (condition())
            return true;
        std::this_thread::sleep_for(milliseconds(10));
    }
    return false;
}

// Every body counts as one that took long.
class slow_body : public http_session {
protected:
    slow_body()
    {
        auto chosen = options_;
        chosen.timeouts.caller = milliseconds(-1);
        late_ = std::make_unique<test_server>(chosen);
    }

    // The caller is good when the head arrives, and revoked before the rest of the body does.
    raw_response revoked_before_the_rest(std::string_view head, std::string_view rest)
    {
        raw_client client(late_->port());
        client.send(head);
        EXPECT_TRUE(eventually([&] { return access_.asked.load() == 1; }));
        access_.revoked = true;
        client.send(rest);
        return client.receive();
    }

    std::unique_ptr<test_server> late_;
};

TEST_F(slow_body, does_nothing_for_a_caller_that_is_revoked_meanwhile)
{
    const auto answer = revoked_before_the_rest(
        post_request("/guarded", "Authorization: Bearer good\r\nContent-Length: 6\r\n", "abc"), "def");
    EXPECT_EQ(answer.status, 401);
    EXPECT_EQ(access_.asked.load(), 2);
}

TEST_F(slow_body, in_chunks_too)
{
    const auto answer = revoked_before_the_rest(
        post_request("/guarded", "Authorization: Bearer good\r\nTransfer-Encoding: chunked\r\n",
                     "3\r\nabc\r\n"),
        "0\r\n\r\n");
    EXPECT_EQ(answer.status, 401);
}

TEST_F(slow_body, that_nobody_reads_too)
{
    const auto answer = revoked_before_the_rest(
        post_request("/guarded-ack", "Authorization: Bearer good\r\nContent-Length: 2\r\n", "{"), "}");
    EXPECT_EQ(answer.status, 401) << "the handler would say 403";
}

TEST_F(slow_body, is_taken_from_a_caller_that_is_still_good)
{
    raw_client client(late_->port());
    client.send(post_request("/guarded", "Authorization: Bearer good\r\nContent-Length: 3\r\n", "abc"));
    EXPECT_EQ(client.receive().body, counted("abc"));
    EXPECT_EQ(access_.asked.load(), 2);
}

TEST_F(http_session, a_quick_body_costs_no_second_question)
{
    raw_client client(server_.port());
    client.send(post_request("/guarded", "Authorization: Bearer good\r\nContent-Length: 3\r\n", "abc"));
    EXPECT_EQ(client.receive().body, counted("abc"));
    EXPECT_EQ(access_.asked.load(), 1);
}

TEST_F(http_session, body_of_known_length_arrives_whole)
{
    std::string body(3'000'000, '\0');
    for (std::size_t i = 0; i < body.size(); ++i)
        body[i] = static_cast<char>(i * 7 + i / 251);
    raw_client client(server_.port());
    client.send(post_request("/count", "Content-Length: 3000000\r\n", body));
    const auto answer = client.receive();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, counted(body));
    EXPECT_EQ(answer.field("connection"), "keep-alive");
    EXPECT_FALSE(answer.field("x-request-id").empty());
    EXPECT_EQ(answer.field("x-content-type-options"), "nosniff");

    client.send(post_request("/count", "Content-Length: 5\r\n", "hello"));
    EXPECT_EQ(client.receive().body, counted("hello"));
}

TEST_F(http_session, a_mebibyte_in_one_byte_chunks)
{
    const std::string body(1 << 20, 'z');
    std::string chunks;
    for (std::size_t i = 0; i < body.size(); ++i)
        chunks += "1\r\nz\r\n";
    chunks += "0\r\n\r\n";
    raw_client client(server_.port(), 20);
    client.send(post_request("/count", "Transfer-Encoding: chunked\r\n", chunks));
    EXPECT_EQ(client.receive().body, counted(body));
    client.send(post_request("/count", "Transfer-Encoding: chunked\r\n", "3;a=b\r\nabc\r\n0\r\n\r\n"));
    EXPECT_EQ(client.receive().body, counted("abc"));
}

TEST_F(http_session, every_split_of_a_chunked_request_gives_the_same)
{
    const auto request = post_request("/count", "Transfer-Encoding: chunked\r\n",
                                      "4\r\nabcd\r\n10;x=\"y\"\r\n0123456789abcdef\r\n0\r\nT: v\r\n\r\n");
    raw_client client(server_.port());
    for (std::size_t split = 1; split < request.size(); ++split) {
        client.send(request.substr(0, split));
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        client.send(request.substr(split));
        ASSERT_EQ(client.receive().body, counted("abcd0123456789abcdef")) << split;
    }
}

TEST_F(http_session, broken_chunks_are_refused_and_the_connection_ends)
{
    const std::string many_extensions = "1;" + std::string(64 * 1024, 'e') + "\r\nz\r\n0\r\n\r\n";
    std::string small_extensions;
    for (int i = 0; i < 100; ++i)
        small_extensions += "1;" + std::string(1000, 'e') + "\r\nz\r\n";
    const std::string endless_trailer = "0\r\nT: " + std::string(64 * 1024, 't') + "\r\n\r\n";
    const std::string cases[] = {"0x5\r\nhello\r\n0\r\n\r\n", "-1\r\nhello\r\n0\r\n\r\n",
                                 "FFFFFFFFFFFFFFFFF\r\nhello", "3\r\nhello\r\n0\r\n\r\n",
                                 "5\nhello\r\n0\r\n\r\n", "\r\n\r\n",
                                 // These are known before their line ends, and not waited for.
                                 "x", "5x", "00000000000000005", "3\r\nabcX", "3\r\nabc\r\n3;\n",
                                 many_extensions, small_extensions, endless_trailer};
    for (const auto& body : cases) {
        raw_client client(server_.port());
        client.send(post_request("/count", "Transfer-Encoding: chunked\r\n", body));
        const auto answer = client.receive();
        EXPECT_EQ(answer.status, 400) << body.substr(0, 40);
        EXPECT_EQ(answer.field("connection"), "close") << body.substr(0, 40);
        EXPECT_TRUE(client.ended()) << body.substr(0, 40);
    }
}

TEST_F(http_session, the_cap_holds_for_announced_and_for_unknown_lengths)
{
    raw_client announced(server_.port());
    announced.send(post_request("/count", "Content-Length: 4194305\r\nExpect: 100-continue\r\n"));
    EXPECT_EQ(announced.receive().status, 413);
    EXPECT_TRUE(announced.ended());

    raw_client unknown(server_.port());
    std::string block = "10000\r\n" + std::string(65536, 'c') + "\r\n";
    unknown.send(post_request("/count", "Transfer-Encoding: chunked\r\n"));
    bool open = true;
    for (int i = 0; i < 100 && open; ++i)
        open = unknown.send(block);
    EXPECT_TRUE(open) << "the answer must not be lost to a reset while the client still sends";
    EXPECT_EQ(unknown.receive().status, 413);
}

// It would never fit, so there is no point in trying again.
TEST_F(http_session, a_text_above_the_cap_is_too_large_and_not_without_room)
{
    memory_budget memory(1 << 20);
    auto chosen = quick();
    chosen.memory = &memory;
    test_server server(chosen);
    raw_client client(server.port());
    client.send(post_request("/json", "Content-Length: 100000000\r\n"));
    EXPECT_EQ(client.receive().status, 413);
}

TEST_F(http_session, a_caller_without_a_workspace_in_its_path_uses_up_only_its_own_memory)
{
    memory_budget memory(1 << 20);
    access_.account = make_uuid_v4();
    auto chosen = options_;
    chosen.memory = &memory;
    test_server server(chosen);
    // With what strangers hold besides it would be more than a half, which nobody gets.
    raw_client slow(server.port());
    slow.send(post_request("/known/json", "Authorization: Bearer good\r\nContent-Length: 400000\r\n",
                           std::string(200'000, ' ')));
    ASSERT_TRUE(eventually([&] { return memory.used(memory_use::body) >= 200'000; }));
    memory_charge shared(&memory, memory_use::body, uuid{});
    EXPECT_TRUE(shared.grow_to(200'000)) << "strangers have theirs still";
    memory_charge own(&memory, memory_use::body, access_.account);
    EXPECT_FALSE(own.could_grow_to(600'000));
}

TEST_F(http_session, a_preflight_of_an_unknown_path_lets_the_page_read_the_404)
{
    auto chosen = quick();
    chosen.allowed_origins = {"https://canvas.example"};
    test_server server(chosen);
    raw_client client(server.port());
    const std::string origin = "Origin: https://canvas.example\r\n";
    client.send("OPTIONS /nothing HTTP/1.1\r\nHost: localhost\r\n" + origin +
                "Access-Control-Request-Method: DELETE\r\n\r\n");
    const auto preflight = client.receive();
    EXPECT_EQ(preflight.status, 204);
    EXPECT_EQ(preflight.field("access-control-allow-origin"), "https://canvas.example");
    EXPECT_EQ(preflight.field("access-control-allow-methods"), "GET, HEAD, POST, OPTIONS");
    client.send(get_request("/nothing", origin));
    const auto refused = client.receive();
    EXPECT_EQ(refused.status, 404);
    EXPECT_EQ(refused.field("access-control-allow-origin"), "https://canvas.example");
    client.send("OPTIONS /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_EQ(client.receive().status, 404) << "nobody's preflight";
}

TEST_F(http_session, continue_is_sent_only_when_the_body_is_asked_for)
{
    raw_client wanted(server_.port());
    wanted.send(post_request("/count", "Content-Length: 5\r\nExpect: 100-continue\r\n"));
    EXPECT_EQ(wanted.receive().status, 100);
    wanted.send("hello");
    EXPECT_EQ(wanted.receive().body, counted("hello"));

    raw_client refused(server_.port());
    refused.send(post_request("/refuse", "Content-Length: 5000000\r\nExpect: 100-continue\r\n"));
    const auto answer = refused.receive();
    EXPECT_EQ(answer.status, 403);
    EXPECT_EQ(answer.field("connection"), "close");
    EXPECT_TRUE(refused.ended());

    raw_client stranger(server_.port());
    stranger.send(post_request("/guarded", "Content-Length: 5000000\r\nExpect: 100-continue\r\n"));
    EXPECT_EQ(stranger.receive().status, 401);
}

TEST_F(http_session, an_early_answer_is_seen_by_a_client_that_goes_on_sending)
{
    // Built before connecting, because the header timeout is short.
    const auto request =
        post_request("/refuse", "Content-Length: 20000000\r\n", std::string(20'000'000, 'b'));
    raw_client client(server_.port());
    EXPECT_TRUE(client.send(request));
    EXPECT_EQ(client.receive().status, 403);
    EXPECT_TRUE(client.ended());
}

TEST_F(http_session, a_refused_body_that_has_arrived_costs_no_connection)
{
    raw_client client(server_.port());
    client.send(post_request("/refuse", "Content-Length: 5\r\n", "hello"));
    EXPECT_EQ(client.receive().status, 403);
    client.send(post_request("/ack", "Content-Length: 2\r\n", "{}"));
    EXPECT_EQ(client.receive().status, 403);
    client.send(post_request("/ack", "Content-Length: 1025\r\n"));
    EXPECT_EQ(client.receive().status, 413);
    EXPECT_TRUE(client.ended());
}

TEST_F(http_session, trailers_reach_nobody)
{
    raw_client client(server_.port());
    client.send(post_request("/fields", "Transfer-Encoding: chunked\r\n",
                             "1\r\nx\r\n0\r\nAuthorization: Bearer good\r\n\r\n"));
    EXPECT_EQ(client.receive().body, R"({"authorization":"","remote":"127.0.0.1"})");
    client.send(post_request("/guarded", "Transfer-Encoding: chunked\r\n",
                             "1\r\nx\r\n0\r\nAuthorization: Bearer good\r\n\r\n"));
    const auto answer = client.receive();
    EXPECT_EQ(answer.status, 401);
    EXPECT_EQ(answer.field("www-authenticate"), "Bearer");
    EXPECT_TRUE(client.ended());
}

TEST_F(http_session, a_body_cut_short_is_no_body)
{
    raw_client client(server_.port());
    client.send(post_request("/count", "Content-Length: 10\r\n", "hello"));
    client.finish_sending();
    EXPECT_NE(client.receive().status, 200);
    EXPECT_TRUE(client.ended());
}

TEST_F(http_session, json_is_read_strictly)
{
    const auto ask = [this](std::string_view text) {
        raw_client client(server_.port());
        client.send(post_request("/json", "Content-Length: " + std::to_string(text.size()) + "\r\n", text));
        return client.receive().status;
    };
    const std::string deep(100, '[');
    EXPECT_EQ(ask(R"({"a":[1,2,{"b":"\u00e9"}]})"), 200);
    EXPECT_EQ(ask(std::string(32, '[') + std::string(32, ']')), 200);
    EXPECT_EQ(ask(std::string(33, '[') + std::string(33, ']')), 400);
    EXPECT_EQ(ask(deep), 400);
    EXPECT_EQ(ask(R"({"a":1,"a":2})"), 400);
    EXPECT_EQ(ask(R"([{"a":1,"b":{"a":1,"\u0061":2}}])"), 400);
    EXPECT_EQ(ask("\xEF\xBB\xBF{}"), 400);
    EXPECT_EQ(ask("{\"a\":\"\xFF\"}"), 400);
    EXPECT_EQ(ask("{} {}"), 400);
    EXPECT_EQ(ask("{}//"), 400);
    EXPECT_EQ(ask(""), 400);
    EXPECT_EQ(ask("\"" + std::string(2 << 20, 'j') + "\""), 413);
}

TEST_F(http_session, a_bug_in_a_handler_is_a_500_without_details)
{
    raw_client client(server_.port());
    client.send(get_request("/bug"));
    const auto answer = client.receive();
    EXPECT_EQ(answer.status, 500);
    EXPECT_EQ(answer.body.find("secret"), std::string::npos);
    client.send(get_request("/nowhere"));
    EXPECT_EQ(client.receive().status, 404) << "the connection goes on";
}

TEST_F(http_session, pipelined_requests_are_answered_in_order)
{
    raw_client client(server_.port());
    std::string requests;
    for (int i = 1; i <= 50; ++i) {
        const std::string body(static_cast<std::size_t>(i), 'p');
        requests += post_request("/count", "Content-Length: " + std::to_string(i) + "\r\n", body);
        requests += get_request("/nowhere");
    }
    client.send(requests);
    for (int i = 1; i <= 50; ++i) {
        EXPECT_EQ(client.receive().body, counted(std::string(static_cast<std::size_t>(i), 'p')));
        EXPECT_EQ(client.receive().status, 404);
    }
}

TEST_F(http_session, old_clients_and_those_that_say_close_are_closed)
{
    raw_client old(server_.port());
    old.send("GET /nowhere HTTP/1.0\r\nHost: localhost\r\n\r\n");
    EXPECT_EQ(old.receive().field("connection"), "close");
    EXPECT_TRUE(old.ended());

    raw_client kept(server_.port());
    kept.send("GET /nowhere HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_EQ(kept.receive().field("connection"), "keep-alive");
    kept.send(get_request("/nowhere", "Connection: close\r\n"));
    EXPECT_EQ(kept.receive().field("connection"), "close");
    EXPECT_TRUE(kept.ended());
}

TEST_F(http_session, slow_heads_get_408_and_silence_is_closed)
{
    raw_client slow(server_.port());
    slow.send("GET /nowhere HT");
    EXPECT_EQ(slow.receive().status, 408);
    EXPECT_TRUE(slow.ended());

    raw_client silent(server_.port());
    EXPECT_TRUE(silent.ended());

    raw_client idle(server_.port());
    idle.send(get_request("/nowhere"));
    EXPECT_EQ(idle.receive().status, 404);
    std::this_thread::sleep_for(
        milliseconds(500));  // longer than the header timeout, shorter than the idle timeout
    idle.send(get_request("/nowhere"));
    EXPECT_EQ(idle.receive().status, 404);
    EXPECT_TRUE(idle.ended());
}

TEST_F(http_session, a_parked_request_learns_that_its_client_has_gone)
{
    abandoned = 0;
    {
        raw_client client(server_.port());
        client.send(get_request("/park"));
        ASSERT_TRUE(eventually([] { return parked == 1; }));
        client.reset();
        ASSERT_TRUE(eventually([] { return abandoned == 1; }));
    }
    raw_client client(server_.port());
    client.send(get_request("/park"));
    ASSERT_TRUE(eventually([] { return parked == 1; }));
    client.finish_sending();
    ASSERT_TRUE(eventually([] { return abandoned == 2; }));
}

TEST_F(http_session, a_server_that_stops_answers_parked_requests_and_closes_idle_connections)
{
    raw_client idle(server_.port());
    idle.send(get_request("/nowhere"));
    EXPECT_EQ(idle.receive().status, 404);
    raw_client waiting(server_.port());
    waiting.send(get_request("/park"));
    ASSERT_TRUE(eventually([] { return parked == 1; }));

    const auto begun = std::chrono::steady_clock::now();
    server_.stop(std::chrono::seconds(5));
    EXPECT_TRUE(server_.join());
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(2));
    const auto answer = waiting.receive();
    EXPECT_EQ(answer.body, "[]");
    EXPECT_EQ(answer.field("connection"), "close");
    EXPECT_TRUE(idle.ended());
}

TEST_F(http_session, an_upload_that_outlasts_the_grace_period_gets_an_answer)
{
    raw_client client(server_.port());
    client.send(post_request("/count", "Content-Length: 100000\r\n", std::string(50'000, 'u')));
    std::this_thread::sleep_for(milliseconds(100));
    server_.stop(std::chrono::milliseconds(2500));
    EXPECT_EQ(client.receive().status, 503);
    EXPECT_TRUE(server_.join());
}

TEST_F(http_session, downloads_end_with_a_word_to_their_source)
{
    std::promise<bool> whole;
    download_finished = &whole;
    raw_client client(server_.port());
    client.send(get_request("/download"));
    EXPECT_EQ(client.receive().body.size(), 8u << 20);
    EXPECT_TRUE(whole.get_future().get());

    std::promise<bool> head;
    download_finished = &head;
    client.send("HEAD /download HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_EQ(client.receive(true).field("content-length"), "8388608");
    EXPECT_FALSE(head.get_future().get());

    std::promise<bool> broken;
    download_finished = &broken;
    client.send(get_request("/broken"));
    EXPECT_EQ(client.receive().body.size(), 1u << 20) << "cut, so that the client can tell";
    EXPECT_FALSE(broken.get_future().get());
    EXPECT_TRUE(client.ended());

    std::promise<bool> hung_up;
    download_finished = &hung_up;
    raw_client leaving(server_.port());
    leaving.send(get_request("/download"));
    leaving.reset();
    EXPECT_FALSE(hung_up.get_future().get());
    download_finished = nullptr;
}

TEST_F(http_session, a_takeover_gets_the_connection_and_what_was_sent_ahead)
{
    raw_client client(server_.port());
    client.send(get_request("/takeover"));
    client.send("ping");
    EXPECT_EQ(client.receive_rest(), "ping");
}

TEST_F(http_session, requests_are_counted_by_template_and_unknown_words_are_not_labels)
{
    raw_client client(server_.port());
    client.send(get_request("/nowhere/at/all?token=secret"));
    client.receive();
    client.send("BREW /pot HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_EQ(client.receive().status, 501);
    const auto text = server_.metrics_text();
    EXPECT_NE(text.find(R"(molecule_http_requests_total{method="GET",path="unmatched",status="404"} 1)"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find(R"(method="other")"), std::string::npos);
    EXPECT_EQ(text.find("nowhere"), std::string::npos);
    EXPECT_EQ(text.find("BREW"), std::string::npos);
}

}  // namespace
}  // namespace restante::test
