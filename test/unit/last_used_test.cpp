#include "auth/last_used.hpp"

#include "test/support/fake_clock.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

using namespace std::chrono_literals;

TEST(last_used, a_token_is_due_once_a_minute)
{
    fake_clock time;
    last_used_notes notes;
    const auto token = make_uuid_v4();
    notes.note(token, time.now());
    notes.note(token, time.now());
    EXPECT_EQ(notes.take(), std::vector{token});
    time.advance(59s);
    notes.note(token, time.now());
    EXPECT_TRUE(notes.take().empty());
    time.advance(1s);
    notes.note(token, time.now());
    EXPECT_EQ(notes.take(), std::vector{token});
}

TEST(last_used, notes_that_nobody_takes_do_not_grow_without_end)
{
    fake_clock time;
    last_used_notes notes;
    for (int i = 0; i < 15'000; ++i) {
        notes.note(make_uuid_v4(), time.now());
        time.advance(1ms);
    }
    EXPECT_EQ(notes.take().size(), last_used_notes::max_tokens);
}

}  // namespace
}  // namespace restante
