#include "server/api/common/idempotency.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

principal token_of(const uuid& workspace, token_scope scope = token_scope::full)
{
    principal who{.kind = principal_kind::workspace, .scope = scope, .token = make_uuid_v4()};
    who.workspace.id = workspace;
    return who;
}

const uuid target = make_uuid_v4();

TEST(idempotency_key, is_shared_by_those_who_see_all_of_a_workspace)
{
    EXPECT_EQ(stored_key(token_of(target), target, "k"), "k");
    EXPECT_EQ(stored_key(principal{.kind = principal_kind::admin}, target, "k"), "k");
}

TEST(idempotency_key, of_a_sender_is_its_own)
{
    const auto first = token_of(target, token_scope::upload);
    const auto second = token_of(target, token_scope::upload);
    EXPECT_NE(stored_key(first, target, "k"), "k");
    EXPECT_NE(stored_key(first, target, "k"), stored_key(second, target, "k"));
    EXPECT_EQ(stored_key(first, target, "k"), stored_key(first, target, "k"));
}

TEST(idempotency_key, of_a_workspace_that_speaks_to_another_is_its_own)
{
    const auto peer = make_uuid_v4();
    const auto stored = stored_key(token_of(peer), target, "k");
    EXPECT_NE(stored, "k") << "the target's own";
    EXPECT_NE(stored, stored_key(token_of(make_uuid_v4()), target, "k")) << "another peer's";
    EXPECT_EQ(stored, stored_key(token_of(peer), target, "k")) << "whichever of its tokens it uses";
}

}  // namespace
}  // namespace restante
