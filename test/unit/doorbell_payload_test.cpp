#include "storage/doorbell_payload.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

TEST(bell, says_what_it_was_given)
{
    const auto sender = make_uuid_v4();
    changes news;
    news.activity[make_uuid_v4()] = 1;
    news.activity[make_uuid_v4()] = 9'000'000'000'000'000'000;
    news.revoked_tokens = {make_uuid_v4()};
    news.changed_workspaces = {make_uuid_v4()};
    news.removed_workspaces = {make_uuid_v4()};
    auto waiting = news;
    const auto heard = read_payload(write_payload(sender, waiting));
    ASSERT_TRUE(heard);
    EXPECT_TRUE(waiting.empty());
    EXPECT_EQ(heard->sender, sender);
    EXPECT_EQ(heard->news.activity, news.activity);
    EXPECT_EQ(heard->news.revoked_tokens, news.revoked_tokens);
    EXPECT_EQ(heard->news.changed_workspaces, news.changed_workspaces);
    EXPECT_EQ(heard->news.removed_workspaces, news.removed_workspaces);
    EXPECT_FALSE(heard->news.everything);
}

TEST(bell, too_many_workspaces_become_everything)
{
    changes waiting;
    for (int i = 0; i < 300; ++i)
        waiting.activity[make_uuid_v4()] = i + 1;
    const auto payload = write_payload(make_uuid_v4(), waiting);
    EXPECT_LE(payload.size(), max_payload_bytes);
    const auto heard = read_payload(payload);
    ASSERT_TRUE(heard);
    EXPECT_TRUE(heard->news.everything);
    EXPECT_TRUE(heard->news.activity.empty());
    EXPECT_TRUE(waiting.empty());
}

TEST(bell, revocations_are_never_left_out)
{
    changes waiting;
    for (int i = 0; i < 500; ++i)
        waiting.revoked_tokens.push_back(make_uuid_v4());
    waiting.activity[make_uuid_v4()] = 1;
    std::size_t heard = 0;
    bool activity = false;
    for (int rings = 0; !waiting.empty() && rings < 10; ++rings) {
        const auto payload = write_payload(make_uuid_v4(), waiting);
        EXPECT_LE(payload.size(), max_payload_bytes);
        const auto read = read_payload(payload);
        ASSERT_TRUE(read);
        heard += read->news.revoked_tokens.size();
        activity = activity || read->news.everything || !read->news.activity.empty();
    }
    EXPECT_EQ(heard, 500u);
    EXPECT_TRUE(activity);
}

TEST(bell, anything_else_is_not_understood)
{
    const auto id = to_string(make_uuid_v4());
    for (const auto& payload :
         {std::string(), std::string("hello"), id + " ", id + "*", id + " x" + id, id + " a" + id,
          id + " a" + id + "=", id + " a" + id + "=0", id + " a" + id + "=-1", id + " a" + id + "=1x",
          id + " a" + id + "=99999999999999999999", id + " t" + id + "  *", id + " t" + id.substr(1),
          id.substr(1) + " *"})
        EXPECT_FALSE(read_payload(payload)) << payload;
    EXPECT_TRUE(read_payload(id));
    EXPECT_TRUE(read_payload(id + " *"));
}

}  // namespace
}  // namespace restante
