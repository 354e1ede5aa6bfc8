#include "storage/standby_circuit.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

using namespace std::chrono_literals;

const standby_circuit::time_point start{100h};

TEST(standby_circuit, asks_as_long_as_it_is_served)
{
    standby_circuit circuit;
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(circuit.admits(start));
        circuit.served();
    }
    EXPECT_FALSE(circuit.wants_probe(start));
}

TEST(standby_circuit, stops_after_one_failure_until_a_probe_is_answered)
{
    standby_circuit circuit;
    circuit.failed(start);
    EXPECT_FALSE(circuit.admits(start));
    EXPECT_FALSE(circuit.admits(start + 1h)) << "time alone is no proof";
    EXPECT_FALSE(circuit.wants_probe(start + standby_circuit::failure_pause - 1ms));
    EXPECT_TRUE(circuit.wants_probe(start + standby_circuit::failure_pause));

    const auto asked = start + standby_circuit::failure_pause;
    circuit.probed(false, asked);
    EXPECT_FALSE(circuit.wants_probe(asked + 1ms)) << "it is asked again after another pause";
    EXPECT_TRUE(circuit.wants_probe(asked + standby_circuit::failure_pause));
    circuit.probed(true, asked + standby_circuit::failure_pause);
    EXPECT_TRUE(circuit.admits(asked + standby_circuit::failure_pause));
    EXPECT_FALSE(circuit.has_failed());
}

TEST(standby_circuit, callers_that_fail_late_keep_it_open)
{
    standby_circuit circuit;
    circuit.failed(start);
    circuit.failed(start + 1s);
    EXPECT_FALSE(circuit.wants_probe(start + standby_circuit::failure_pause));
    EXPECT_TRUE(circuit.wants_probe(start + 1s + standby_circuit::failure_pause));
}

TEST(standby_circuit, pauses_when_it_is_behind_many_times_in_a_row)
{
    standby_circuit circuit;
    for (int i = 1; i < standby_circuit::most_behind; ++i) {
        circuit.fell_behind(start);
        EXPECT_TRUE(circuit.admits(start)) << i;
    }
    circuit.fell_behind(start);
    EXPECT_FALSE(circuit.admits(start));
    EXPECT_TRUE(circuit.lags(start));
    EXPECT_FALSE(circuit.wants_probe(start + 1h)) << "it answers, so it has not failed";
    EXPECT_TRUE(circuit.admits(start + standby_circuit::lag_pause));
    EXPECT_FALSE(circuit.lags(start + standby_circuit::lag_pause));
}

TEST(standby_circuit, one_answer_in_between_is_enough)
{
    standby_circuit circuit;
    for (int i = 0; i < 3 * standby_circuit::most_behind; ++i) {
        circuit.fell_behind(start);
        if (i % 2 == 1)
            circuit.served();
        EXPECT_TRUE(circuit.admits(start)) << i;
    }
}

}  // namespace
}  // namespace restante
