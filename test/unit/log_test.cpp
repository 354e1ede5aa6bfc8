#include "core/log.hpp"

#include "core/clock.hpp"
#include "core/log_sink.hpp"
#include "test/support/log_capture.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <cmath>
#include <fcntl.h>
#include <limits>
#include <stdexcept>
#include <thread>
#include <unistd.h>

namespace restante {
namespace {

namespace json = boost::json;

json::object only_line(const log_capture& log)
{
    const auto lines = log.lines();
    EXPECT_EQ(lines.size(), 1u);
    return json::parse(lines.at(0)).as_object();
}

std::string logged_text(std::string_view text)
{
    const log_capture log;
    log_line(log_level::info, "x").field("text", text);
    return json::value_to<std::string>(only_line(log).at("text"));
}

TEST(log, time_level_and_event_come_first)
{
    const log_capture log;
    log_line(log_level::warn, "upload_rejected").field("size", 5);

    const auto line = only_line(log);
    std::vector<std::string> keys;
    for (const auto& member : line)
        keys.emplace_back(member.key());
    EXPECT_EQ(keys, (std::vector<std::string>{"ts", "level", "event", "size"}));
    EXPECT_EQ(line.at("level"), "warn");
    EXPECT_EQ(line.at("event"), "upload_rejected");

    const auto ts = json::value_to<std::string>(line.at("ts"));
    EXPECT_EQ(ts.size(), 27u);
    const auto when = parse_rfc3339(ts);
    ASSERT_TRUE(when);
    EXPECT_LT(std::chrono::abs(std::chrono::system_clock::now() - *when), std::chrono::minutes(1));
}

TEST(log, every_kind_of_field)
{
    const log_capture log;
    const auto id = *parse_uuid("0191f2aa-3b5c-7d10-8e2f-a1b2c3d4e5f6");
    log_line(log_level::info, "x")
        .field("literal", "a")
        .field("string", std::string("b"))
        .field("negative", std::int64_t(-5))
        .field("large", std::numeric_limits<std::uint64_t>::max())
        .field("int", -1)
        .field("unsigned", 7u)
        .field("double", 1.5)
        .field("nan", std::nan(""))
        .field("bool", true)
        .field("id", id);

    const auto line = only_line(log);
    EXPECT_EQ(line.at("literal"), "a");
    EXPECT_EQ(line.at("string"), "b");
    EXPECT_EQ(line.at("negative"), -5);
    EXPECT_EQ(line.at("large"), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(line.at("int"), -1);
    EXPECT_EQ(line.at("unsigned"), 7);
    EXPECT_EQ(line.at("double"), 1.5);
    EXPECT_TRUE(line.at("nan").is_null());
    EXPECT_EQ(line.at("bool"), true);
    EXPECT_EQ(line.at("id"), "0191f2aa-3b5c-7d10-8e2f-a1b2c3d4e5f6");
}

TEST(log, lines_below_the_level_are_not_written)
{
    const log_capture log;
    set_log_level(log_level::warn);
    log_line(log_level::debug, "a").field("n", 1).field("id", uuid()).failure(RESTANTE_ERROR(errc::no_room));
    log_line(log_level::info, "b").field("t", "x").field("d", 1.0).field("b", true);
    log_line(log_level::warn, "c");
    EXPECT_EQ(only_line(log).at("event"), "c");
}

TEST(log, text_from_outside_stays_in_its_line)
{
    const std::string forged = "x\"}\n{\"level\":\"error\",\"event\":\"forged\"}\r\n\t\\ \x1B[31m";
    EXPECT_EQ(logged_text(forged), forged);
    EXPECT_EQ(logged_text(std::string_view("a\0b", 3)), std::string("a\0b", 3));
}

TEST(log, no_control_character_reaches_the_terminal)
{
    const log_capture log;
    std::string controls =
        "\x7F\xC2\x9B"  // DEL, and the single-character CSI
        "2J\xC2\xA0é";
    for (char c = 0; c < 0x20; ++c)
        controls += c;
    log_line(log_level::info, "x").field("text", controls);
    const auto lines = log.lines();
    ASSERT_EQ(lines.size(), 1u);
    for (const char c : lines[0])
        EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
    EXPECT_EQ(lines[0].find("\xC2\x9B"), std::string::npos);
    EXPECT_NE(lines[0].find("\xC2\xA0é"), std::string::npos);
    EXPECT_EQ(json::value_to<std::string>(json::parse(lines[0]).at("text")), controls);
}

TEST(log, bytes_that_are_not_utf8_are_replaced_one_by_one)
{
    EXPECT_EQ(logged_text("a\xFF\xC3(\xE2\x82"), "a\uFFFD\uFFFD(\uFFFD\uFFFD");
}

TEST(log, text_is_cut_between_code_points)
{
    EXPECT_EQ(logged_text(std::string(256, 'a')), std::string(256, 'a'));
    EXPECT_EQ(logged_text(std::string(257, 'a')), std::string(256, 'a'));
    EXPECT_EQ(logged_text(std::string(255, 'a') + "é"), std::string(255, 'a'));
    EXPECT_EQ(logged_text(std::string(254, 'a') + "éz"), std::string(254, 'a') + "é");
}

TEST(log, a_failure_says_where_it_was_made)
{
    const log_capture log;
    log_line(log_level::error, "sweep_failed").failure(RESTANTE_ERROR(errc::database_unavailable));
    const auto line = only_line(log);
    EXPECT_EQ(line.at("error"), "database unavailable");
    EXPECT_EQ(json::value_to<std::string>(line.at("where")).substr(0, 18), "unit/log_test.cpp:");

    const log_capture second;
    log_line(log_level::error, "x").failure(make_error_code(errc::no_room));
    EXPECT_FALSE(only_line(second).contains("where"));
}

TEST(log, lines_of_several_threads_do_not_mix)
{
    const log_capture log;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([t] {
            for (int i = 0; i < 200; ++i)
                log_line(log_level::info, "x").field("thread", t).field("text", std::string(200, 'a'));
        });
    for (auto& thread : threads)
        thread.join();

    const auto lines = log.lines();
    ASSERT_EQ(lines.size(), 800u);
    for (const auto& line : lines)
        EXPECT_EQ(json::parse(line).at("text").as_string().size(), 200u);
}

TEST(log, a_broken_sink_harms_nobody_and_errno_survives)
{
    const log_capture log;
    set_log_sink(-1);
    errno = ENOENT;
    const auto dropped = log_lines_dropped();
    log_line(log_level::error, "lost");
    EXPECT_EQ(errno, ENOENT);
    EXPECT_EQ(log_lines_dropped(), dropped + 1);
}

// A pipe as the sink of the log; what is read from it is the reader's business.
class piped_log {
public:
    piped_log()
    {
        if (::pipe2(ends_, O_CLOEXEC) != 0)
            throw std::runtime_error("no pipe");
        set_log_sink(ends_[1]);
    }
    ~piped_log()
    {
        set_log_sink(STDERR_FILENO);
        ::close(ends_[0]);
        ::close(ends_[1]);
    }

    json::object next() { return json::parse(read_line()).as_object(); }

private:
    std::string read_line()
    {
        while (text_.find('\n') == std::string::npos) {
            char block[4096];
            const auto n = ::read(ends_[0], block, sizeof block);
            if (n <= 0)
                throw std::runtime_error("the log ended");
            text_.append(block, static_cast<std::size_t>(n));
        }
        const auto line = text_.substr(0, text_.find('\n'));
        text_.erase(0, line.size() + 1);
        return line;
    }

    int ends_[2];
    std::string text_;
};

TEST(background_log, nobody_waits_for_the_reader_and_lost_lines_are_counted_and_reported)
{
    constexpr std::int64_t written = 2000;
    const auto dropped_before = log_lines_dropped();
    piped_log pipe;  // the kernel takes 64 KiB of it, and nobody reads
    const background_log log(16 * 1024);
    for (std::int64_t i = 0; i < written; ++i)
        log_line(log_level::info, "numbered").field("i", i).field("text", std::string(200, 'x'));
    const auto lost = static_cast<std::int64_t>(log_lines_dropped() - dropped_before);
    EXPECT_GT(lost, 0);

    std::int64_t last = -1;
    std::int64_t arrived = 0;
    std::int64_t reported = 0;
    while (arrived + reported < written) {
        const auto line = pipe.next();
        if (line.at("event") == "log_lines_dropped") {
            reported += line.at("lines").as_int64();
            continue;
        }
        EXPECT_GT(line.at("i").as_int64(), last);
        last = line.at("i").as_int64();
        ++arrived;
    }
    EXPECT_EQ(reported, lost);
    EXPECT_EQ(arrived + reported, written);
}

TEST(background_log, its_end_writes_what_is_queued)
{
    piped_log pipe;
    {
        const background_log log;
        for (int i = 0; i < 100; ++i)
            log_line(log_level::info, "queued").field("i", i);
    }
    for (int i = 0; i < 100; ++i)
        EXPECT_EQ(pipe.next().at("i"), i);
}

TEST(background_log, a_regular_file_is_written_at_once)
{
    const log_capture capture;  // a memory file
    const background_log log;
    log_line(log_level::info, "x");
    EXPECT_EQ(capture.lines().size(), 1u);
}

}  // namespace
}  // namespace restante
