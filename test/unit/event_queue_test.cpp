#include "server/events/event_queue.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

shared_event event_of(std::int64_t seq, std::size_t bytes)
{
    return std::make_shared<const event>(event{seq, {}, std::string(bytes, 'x')});
}

TEST(event_queue, gives_back_in_order)
{
    event_queue queue;
    EXPECT_TRUE(queue.push(event_of(1, 10)));
    EXPECT_TRUE(queue.push(event_of(2, 20)));
    EXPECT_EQ(queue.bytes(), 30u);
    EXPECT_EQ(queue.pop()->seq, 1);
    EXPECT_EQ(queue.bytes(), 20u);
    EXPECT_EQ(queue.pop()->seq, 2);
    EXPECT_TRUE(queue.empty());
}

TEST(event_queue, holds_256_events)
{
    event_queue queue;
    for (int seq = 1; seq <= 256; ++seq)
        EXPECT_TRUE(queue.push(event_of(seq, 1)));
    EXPECT_FALSE(queue.push(event_of(257, 1)));
    EXPECT_EQ(queue.size(), 256u);
    queue.pop();
    EXPECT_TRUE(queue.push(event_of(257, 1)));
}

TEST(event_queue, holds_a_mebibyte)
{
    event_queue queue;
    EXPECT_TRUE(queue.push(event_of(1, 1u << 19)));
    EXPECT_TRUE(queue.push(event_of(2, 1u << 19)));
    EXPECT_FALSE(queue.push(event_of(3, 1)));
    EXPECT_EQ(queue.bytes(), 1u << 20);
    queue.pop();
    EXPECT_TRUE(queue.push(event_of(3, 1)));
}

TEST(event_queue, takes_one_of_any_size_when_empty)
{
    event_queue queue;
    EXPECT_TRUE(queue.push(event_of(1, 3u << 20)));
    EXPECT_FALSE(queue.push(event_of(2, 1)));
    queue.clear();
    EXPECT_EQ(queue.bytes(), 0u);
    EXPECT_TRUE(queue.push(event_of(2, 1)));
}

TEST(event_queue, shares_its_texts)
{
    event_queue mine, yours;
    const auto one = event_of(1, 10);
    mine.push(one);
    yours.push(one);
    EXPECT_EQ(mine.pop().get(), yours.pop().get());
}

}  // namespace
}  // namespace restante
