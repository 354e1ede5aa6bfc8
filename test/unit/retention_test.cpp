#include "sweeper/retention.hpp"

#include "server/app/sweep_policy.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

retention_policy policy_with(microseconds ack_retention)
{
    settings config;
    config.ack_retention = ack_retention;
    return policy_from(config);
}

TEST(retention, defaults_are_an_hour_ninety_days_and_five_minutes)
{
    const auto policy = policy_from(settings());
    EXPECT_EQ(policy.acked, 1h);
    EXPECT_EQ(policy.activity, 90 * 24h);
    EXPECT_EQ(policy.interval, 5min);
}

// That 0 at the setting means the default is decided where settings are read, and tested there.
TEST(retention, negative_means_at_once)
{
    EXPECT_EQ(policy_with(-5s).acked, 0s);
    EXPECT_EQ(policy_with(7s).acked, 7s);
}

TEST(retention, the_shares_of_a_cycle_come_to_its_deadline)
{
    const cycle_shares shares;
    EXPECT_EQ(shares.files + shares.requests + shares.activity + shares.receipts, 30s);
}

TEST(retention, the_pause_is_the_interval_give_or_take_a_tenth)
{
    EXPECT_EQ(pause_before_next(100s, 0.0), 90s);
    EXPECT_EQ(pause_before_next(100s, 0.5), 100s);
    EXPECT_EQ(pause_before_next(100s, 1.0), 110s);
    EXPECT_EQ(pause_before_next(100s, -3.0), 90s);
    EXPECT_EQ(pause_before_next(100s, 17.0), 110s);
}

TEST(retention, the_loop_never_spins)
{
    EXPECT_EQ(pause_before_next(0s, 0.5), 50ms);
    EXPECT_EQ(pause_before_next(-1h, 0.5), 50ms);
}

}  // namespace
}  // namespace restante
