#include "auth/token_lookups.hpp"

#include "auth/token.hpp"
#include "test/support/run.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include <string>

namespace restante {
namespace {

using namespace std::chrono_literals;

digest32 hash(int n)
{
    return hash_token(std::to_string(n));
}

// A database that replies when the test allows it; hashes of even numbers up to 100 are its tokens.
class slow_database {
public:
    explicit slow_database(executor ex) : gate_(ex) {}

    awaitable<token_lookups::owners> ask(std::span<const digest32> hashes)
    {
        queries.emplace_back(hashes.begin(), hashes.end());
        const auto number = queries.size();
        while (answered_ < number)
            co_await gate_.wait();
        if (failure)
            co_return *failure;
        std::vector<token_owner> found;
        for (int n = 0; n <= 100; n += 2)
            for (const auto& wanted : hashes)
                if (wanted == hash(n))
                    found.push_back({.hash = wanted, .token = make_uuid_v4(), .workspace = {}});
        co_return found;
    }
    void answer_next()
    {
        ++answered_;
        gate_.notify_all();
    }

    std::vector<std::vector<digest32>> queries;
    std::optional<error_code> failure;

private:
    std::size_t answered_ = 0;
    wakeup gate_;
};

class token_lookups_test : public ::testing::Test {
protected:
    // Runs until nothing is left to do without a reply of the database.
    void settle() { io.restart(), io.poll(); }
    void look_up(int n)
    {
        ++outstanding;
        asio::co_spawn(io, lookups.find(hash(n)), [this](std::exception_ptr failed, answer got) {
            --outstanding;
            EXPECT_FALSE(failed);
            answers.push_back(std::move(got));
        });
        settle();
    }
    void answer_next()
    {
        database.answer_next();
        settle();
    }

    using answer = result<std::optional<token_owner>>;
    asio::io_context io{1};
    slow_database database{io.get_executor()};
    token_lookups lookups{io.get_executor(), [this](auto hashes) { return database.ask(hashes); }};
    std::vector<answer> answers;
    int outstanding = 0;
};

TEST_F(token_lookups_test, finds_what_is_there_and_says_what_is_not)
{
    look_up(2);
    answer_next();
    look_up(3);
    answer_next();
    ASSERT_EQ(answers.size(), 2u);
    EXPECT_EQ(answers[0].value()->hash, hash(2));
    EXPECT_FALSE(answers[1].value().has_value());
    EXPECT_EQ(database.queries.size(), 2u);
}

TEST_F(token_lookups_test, what_comes_meanwhile_travels_together_each_hash_once)
{
    look_up(2);
    for (int i = 0; i < 50; ++i)
        look_up(4 + i % 3);
    EXPECT_EQ(database.queries.size(), 1u) << "one query at a time";
    answer_next();
    ASSERT_EQ(database.queries.size(), 2u);
    EXPECT_EQ(database.queries[1].size(), 3u);
    answer_next();
    EXPECT_EQ(outstanding, 0);
    EXPECT_EQ(answers.size(), 51u);
    EXPECT_EQ(database.queries.size(), 2u);
}

TEST_F(token_lookups_test, a_failure_reaches_those_who_wait_behind_it_and_nobody_later)
{
    database.failure = make_error_code(errc::database_unavailable);
    look_up(2);
    look_up(4);
    look_up(6);
    answer_next();
    ASSERT_EQ(answers.size(), 3u);
    for (const auto& got : answers)
        EXPECT_EQ(got.error(), errc::database_unavailable);
    EXPECT_EQ(database.queries.size(), 1u);

    database.failure.reset();
    look_up(8);
    answer_next();
    ASSERT_EQ(answers.size(), 4u);
    EXPECT_TRUE(answers[3].value().has_value());
}

TEST_F(token_lookups_test, when_the_one_who_asks_is_cancelled_another_asks_for_the_rest)
{
    asio::cancellation_signal stop;
    bool cancelled = false;
    asio::co_spawn(io, lookups.find(hash(2)),
                   asio::bind_cancellation_slot(stop.slot(), [&](std::exception_ptr failed, const answer&) {
                       cancelled = failed != nullptr;
                   }));
    settle();
    look_up(4);
    look_up(6);
    stop.emit(asio::cancellation_type::terminal);
    settle();
    EXPECT_TRUE(cancelled);
    ASSERT_EQ(database.queries.size(), 2u);
    EXPECT_EQ(database.queries[1].size(), 2u);
    answer_next();
    answer_next();
    EXPECT_EQ(outstanding, 0);
    EXPECT_EQ(answers.size(), 2u);
}

TEST_F(token_lookups_test, when_the_first_of_those_who_wait_is_cancelled_the_others_go_on)
{
    look_up(2);
    asio::cancellation_signal stop;
    asio::co_spawn(io, lookups.find(hash(4)),
                   asio::bind_cancellation_slot(stop.slot(), [](std::exception_ptr, const answer&) {}));
    settle();
    look_up(6);
    stop.emit(asio::cancellation_type::terminal);
    settle();
    answer_next();
    answer_next();
    EXPECT_EQ(outstanding, 0);
    ASSERT_EQ(answers.size(), 2u);
    EXPECT_TRUE(answers[1].value().has_value());
}

}  // namespace
}  // namespace restante
