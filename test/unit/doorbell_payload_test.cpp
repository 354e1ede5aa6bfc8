#include "storage/doorbell_payload.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

TEST(doorbell_payload, says_what_it_was_given)
{
    const auto sender = make_uuid_v4();
    changes what;
    what.activity[make_uuid_v4()] = 1;
    what.activity[make_uuid_v4()] = 9'000'000'000'000'000'000;
    what.revoked_tokens = {make_uuid_v4()};
    what.changed_workspaces = {make_uuid_v4()};
    what.removed_workspaces = {make_uuid_v4()};
    auto waiting = what;
    const auto heard = read_payload(write_payload(sender, waiting));
    ASSERT_TRUE(heard);
    EXPECT_TRUE(waiting.empty());
    EXPECT_EQ(heard->sender, sender);
    EXPECT_EQ(heard->what.activity, what.activity);
    EXPECT_EQ(heard->what.revoked_tokens, what.revoked_tokens);
    EXPECT_EQ(heard->what.changed_workspaces, what.changed_workspaces);
    EXPECT_EQ(heard->what.removed_workspaces, what.removed_workspaces);
    EXPECT_FALSE(heard->what.everything);
}

TEST(doorbell_payload, too_many_workspaces_become_everything)
{
    changes waiting;
    for (int i = 0; i < 300; ++i)
        waiting.activity[make_uuid_v4()] = i + 1;
    const auto payload = write_payload(make_uuid_v4(), waiting);
    EXPECT_LE(payload.size(), max_payload_bytes);
    const auto heard = read_payload(payload);
    ASSERT_TRUE(heard);
    EXPECT_TRUE(heard->what.everything);
    EXPECT_TRUE(heard->what.activity.empty());
    EXPECT_TRUE(waiting.empty());
}

TEST(doorbell_payload, revocations_are_never_left_out)
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
        heard += read->what.revoked_tokens.size();
        activity = activity || read->what.everything || !read->what.activity.empty();
    }
    EXPECT_EQ(heard, 500u);
    EXPECT_TRUE(activity);
}

TEST(doorbell_payload, anything_else_is_not_understood)
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
