#include "server/commands/status_text.hpp"

#include "server/commands/plain_words.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace restante {
namespace {

using namespace std::chrono_literals;

const timestamp noon = *parse_rfc3339("2026-11-16T12:00:00Z");

status_report quiet_report()
{
    return {.database = {.name = "restante", .version = "15.8", .bytes = 9 << 20, .schema = 6, .now = noon},
            .workspaces = {},
            .waiting = {},
            .leaving = {},
            .fullest = {},
            .sweep = {},
            .replicas = {}};
}

status_report busy_report()
{
    auto report = quiet_report();
    report.workspaces = {.poll = 10,
                         .push = 2,
                         .removed = 1,
                         .agents = {.awaited = 2, .online = 7, .degraded = 1, .offline = 1003}};
    report.waiting = {
        .files = 1204, .bytes = 310 << 20, .never_fetched = 1180, .oldest_seconds = 7980, .estimated = false};
    report.leaving = {.acked = 10'000, .expired = 3};
    report.fullest = fullest_workspace{*parse_uuid("11111111-1111-4111-8111-111111111111"), 0.8399};
    report.sweep = {
        .started_at = noon - 120s - 35ms, .finished_at = noon - 120s, .acked = 40, .expired = 3, .error = {}};
    report.replicas = {{"web-1:42", "10.0.0.3", 8, noon - 90min}, {"longer-name:7", "local", 1, noon - 5s}};
    return report;
}

TEST(plain_words, ages)
{
    EXPECT_EQ(in_words(-5s), "0 s");
    EXPECT_EQ(in_words(59s), "59 s");
    EXPECT_EQ(in_words(60s), "1 min");
    EXPECT_EQ(in_words(7980s), "2 h 13 min");
    EXPECT_EQ(in_words(72h), "3 days");
}

TEST(plain_words, bytes)
{
    EXPECT_EQ(in_bytes(0), "0 bytes");
    EXPECT_EQ(in_bytes(1), "1 byte");
    EXPECT_EQ(in_bytes(1023), "1,023 bytes");
    EXPECT_EQ(in_bytes(1536), "1.5 KiB");
    EXPECT_EQ(in_bytes(310 << 20), "310 MiB");
    EXPECT_EQ(in_bytes((1 << 20) - 1), "1.0 MiB");
    EXPECT_EQ(in_bytes(std::numeric_limits<std::int64_t>::max()), "8.0 EiB");
}

TEST(plain_words, numbers)
{
    EXPECT_EQ(with_separators(0), "0");
    EXPECT_EQ(with_separators(999), "999");
    EXPECT_EQ(with_separators(1000), "1,000");
    EXPECT_EQ(with_separators(-1234567), "-1,234,567");
    EXPECT_EQ(counted(1, "file", "files"), "1 file");
    EXPECT_EQ(counted(2000, "file", "files"), "2,000 files");
}

TEST(status_text, a_table_that_can_be_read)
{
    EXPECT_EQ(status_table(busy_report()),
              "Database    restante on PostgreSQL 15.8, 9.0 MiB, schema 6\n"
              "Workspaces  12 (10 poll, 2 push), 1 removed\n"
              "Agents      7 online, 1 degraded, 1,003 offline, 2 awaited\n"
              "Waiting     1,204 files, 310 MiB, the oldest for 2 h 13 min\n"
              "            1,180 never fetched, 24 fetched but not acked\n"
              "Fullest     11111111-1111-4111-8111-111111111111 has used 83 % of its quota\n"
              "To sweep    10,000 or more acked, 3 expired\n"
              "Last sweep  2 min ago, in 35 ms: 40 acked, 3 expired\n"
              "Replicas    web-1:42       8 connections from 10.0.0.3, for 1 h 30 min\n"
              "            longer-name:7  1 connection from local, for 5 s\n");
}

TEST(status_text, a_fresh_database)
{
    EXPECT_EQ(status_table(quiet_report()),
              "Database    restante on PostgreSQL 15.8, 9.0 MiB, schema 6\n"
              "Workspaces  0 (0 poll, 0 push), 0 removed\n"
              "Agents      0 online, 0 degraded, 0 offline, 0 awaited\n"
              "Waiting     nothing\n"
              "To sweep    0 acked, 0 expired\n"
              "Last sweep  never\n"
              "Replicas    none connected\n");
}

TEST(status_text, estimates_and_failures_are_told_as_such)
{
    auto report = busy_report();
    report.waiting.estimated = true;
    report.sweep.error = "the database is not available";
    const auto table = status_table(report);
    EXPECT_NE(table.find("about 1,204 files"), std::string::npos);
    EXPECT_NE(table.find("about 1,180 never fetched"), std::string::npos);
    EXPECT_NE(table.find("; failed: the database is not available\n"), std::string::npos);
}

TEST(status_text, json_has_the_same_figures_on_one_line)
{
    const auto text = status_json(busy_report());
    EXPECT_EQ(text.find('\n'), text.size() - 1);
    const auto parsed = boost::json::parse(text);
    EXPECT_EQ(parsed.at_pointer("/waiting/files"), 1204);
    EXPECT_EQ(parsed.at_pointer("/waiting/fetched"), 24);
    EXPECT_EQ(parsed.at_pointer("/fullest/quota_used_ratio"), 0.8399);
    EXPECT_EQ(boost::json::parse(status_json(quiet_report())).at_pointer("/fullest"), nullptr);
    EXPECT_EQ(parsed.at_pointer("/last_sweep/finished_at"), "2026-11-16T11:58:00.000000Z");
    EXPECT_EQ(parsed.at_pointer("/last_sweep/error"), nullptr);
    EXPECT_EQ(parsed.at_pointer("/replicas/1/name"), "longer-name:7");
    EXPECT_EQ(boost::json::parse(status_json(quiet_report())).at_pointer("/waiting/oldest_seconds"), nullptr);
}

}  // namespace
}  // namespace restante
