#include "storage/live_payload.hpp"

#include "storage/doorbell_payload.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

std::shared_ptr<const live_event> event_of(std::string payload, std::optional<uuid> staged_by = {})
{
    return std::make_shared<const live_event>(
        live_event{.workspace = make_uuid_v4(),
                   .name = "UPLOAD_ACKED",
                   .payload = std::move(payload),
                   .at = timestamp(std::chrono::microseconds(1'700'000'000'123'456)),
                   .staged_by = staged_by});
}

TEST(live_payload, says_what_it_was_given)
{
    const auto sender = make_uuid_v4();
    const auto owned = event_of(R"({"name":"a b.txt","size":7})", make_uuid_v4());
    const auto plain = event_of("{}");
    std::deque waiting{owned, plain};
    const auto read = read_live_payload(write_live_payload(sender, 7, waiting));
    ASSERT_TRUE(read);
    EXPECT_TRUE(waiting.empty());
    EXPECT_EQ(read->sender, sender);
    EXPECT_EQ(read->number, 7);
    ASSERT_EQ(read->events.size(), 2u);
    EXPECT_EQ(read->events[0]->workspace, owned->workspace);
    EXPECT_EQ(read->events[0]->name, owned->name);
    EXPECT_EQ(read->events[0]->payload, owned->payload);
    EXPECT_EQ(read->events[0]->at, owned->at);
    EXPECT_EQ(read->events[0]->staged_by, owned->staged_by);
    EXPECT_EQ(read->events[1]->payload, "{}");
    EXPECT_EQ(read->events[1]->staged_by, std::nullopt);
}

TEST(live_payload, what_does_not_fit_waits_for_the_next)
{
    std::deque<std::shared_ptr<const live_event>> waiting;
    for (int i = 0; i < 100; ++i)
        waiting.push_back(event_of(R"({"text":")" + std::string(300, 'x') + "\"}"));
    std::size_t heard = 0;
    for (int rings = 0; !waiting.empty() && rings < 100; ++rings) {
        const auto payload = write_live_payload(make_uuid_v4(), 1, waiting);
        EXPECT_LE(payload.size(), max_payload_bytes);
        heard += read_live_payload(payload)->events.size();
    }
    EXPECT_EQ(heard, 100u);
}

TEST(live_payload, one_that_never_fits_goes_without_its_payload)
{
    std::deque waiting{event_of("{}"), event_of(R"({"text":")" + std::string(9000, 'x') + "\"}")};
    const auto first = read_live_payload(write_live_payload(make_uuid_v4(), 1, waiting));
    ASSERT_EQ(waiting.size(), 1u);
    const auto second = read_live_payload(write_live_payload(make_uuid_v4(), 1, waiting));
    EXPECT_TRUE(waiting.empty());
    ASSERT_EQ(first->events.size(), 1u);
    ASSERT_EQ(second->events.size(), 1u);
    EXPECT_EQ(second->events[0]->payload, "{}");
}

TEST(live_payload, foreign_lines_are_skipped)
{
    std::deque waiting{event_of("{}")};
    const auto payload = write_live_payload(make_uuid_v4(), 1, waiting);
    const auto own_line = payload.substr(36);
    const auto sender = payload.substr(0, 36);
    for (const char* foreign : {"\nhello", "\n", "\n#", "\n#x", "\nx - 1 NAME {}", "\n- - - -"}) {
        const auto read = read_live_payload(sender + foreign + own_line + foreign);
        ASSERT_TRUE(read);
        EXPECT_EQ(read->events.size(), 1u) << foreign;
    }
    EXPECT_FALSE(read_live_payload("hello"));
    EXPECT_FALSE(read_live_payload(""));
}

TEST(delivered_payloads, each_number_of_a_sender_is_new_once)
{
    delivered_payloads delivered;
    const live_payload first{.sender = make_uuid_v4(), .number = 1};
    const live_payload second{.sender = first.sender, .number = 2};
    const live_payload of_another{.sender = make_uuid_v4(), .number = 1};
    EXPECT_TRUE(delivered.add(first));
    EXPECT_TRUE(delivered.add(second));
    EXPECT_FALSE(delivered.add(second));
    EXPECT_FALSE(delivered.add(first)) << "a session that was given up commits late";
    EXPECT_TRUE(delivered.add(of_another));
}

TEST(delivered_payloads, holds_only_so_many_senders_and_always_takes_new_ones)
{
    delivered_payloads delivered;
    const live_payload last{.sender = make_uuid_v4(), .number = 9};
    for (std::size_t i = 0; i < delivered_payloads::most_senders; ++i)
        EXPECT_TRUE(delivered.add({.sender = make_uuid_v4(), .number = 1}));
    EXPECT_TRUE(delivered.add(last));
    EXPECT_FALSE(delivered.add(last));
}

}  // namespace
}  // namespace restante
