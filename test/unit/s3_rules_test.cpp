#include "http/client/client_error.hpp"
#include "storage/content/s3/circuit.hpp"
#include "storage/content/s3/credentials.hpp"
#include "storage/content/s3/object_reader.hpp"
#include "storage/content/s3/retry_plan.hpp"
#include "storage/content/s3/verdict.hpp"
#include "test/support/log_capture.hpp"
#include "test/support/temporary_file.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>
#include <sys/stat.h>

namespace restante::s3 {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

struct told_case {
    unsigned status;
    std::string code;
    verdict expected;
};

TEST(s3_verdict, of_answers)
{
    for (const auto& [status, code, expected] : std::vector<told_case>{
             {200, "", verdict::done},
             {204, "", verdict::done},
             {206, "", verdict::done},
             {404, "NoSuchKey", verdict::missing},
             {416, "InvalidRange", verdict::missing},
             // Without the word, a 404 may come from anybody in between, and nothing is lost for sure.
             {404, "", verdict::refused},
             {404, "NoSuchBucket", verdict::refused},
             {403, "AccessDenied", verdict::refused},
             {403, "SignatureDoesNotMatch", verdict::refused},
             {403, "QuotaExceeded", verdict::full},
             {507, "", verdict::full},
             {400, "XAmzContentSHA256Mismatch", verdict::refused},
             {301, "PermanentRedirect", verdict::refused},
             {500, "InternalError", verdict::try_again},
             {502, "", verdict::try_again},
             {503, "SlowDown", verdict::try_again},
             {200, "InternalError", verdict::try_again},
             {400, "RequestTimeout", verdict::try_again},
             {429, "", verdict::try_again},
         })
        EXPECT_EQ(judge(status, {code, ""}, std::nullopt).what, expected) << status << ' ' << code;
    EXPECT_EQ(judge(client_errc::late).what, verdict::try_again);
    EXPECT_EQ(judge(client_errc::connect_failed).what, verdict::try_again);
}

TEST(s3_verdict, says_that_clocks_differ)
{
    EXPECT_THAT(judge(403, {"RequestTimeTooSkewed", ""}, 1200s).words,
                HasSubstr("our clock is 1200 s ahead of"));
    EXPECT_THAT(judge(403, {"AccessDenied", ""}, -1200s).words, HasSubstr("our clock is 1200 s behind"));
    EXPECT_THAT(judge(403, {"AccessDenied", ""}, 20s).words, Not(HasSubstr("clock")));
    EXPECT_THAT(judge(403, {"RequestTimeTooSkewed", ""}, std::nullopt).words, HasSubstr("clock"));
}

TEST(s3_verdict, reads_dates)
{
    using namespace std::chrono;
    EXPECT_EQ(parse_http_date("Wed, 18 Nov 2026 07:30:05 GMT"), sys_days(2026y / 11 / 18) + 7h + 30min + 5s);
    for (const std::string_view wrong : {"", "Wed, 18 Nov 2026 07:30:05 CET", "Wed, 31 Feb 2026 07:30:05 GMT",
                                         "Wed, 18 Nox 2026 07:30:05 GMT", "Wed, 18 Nov 2026 24:30:05 GMT",
                                         "Wed, 18 Nov 2026 07-30-05 GMT", "Wed, 1x Nov 2026 07:30:05 GMT"})
        EXPECT_FALSE(parse_http_date(wrong)) << wrong;
}

TEST(s3_circuit, opens_after_failures_in_a_row_and_tries_once_an_interval)
{
    circuit of_five(5, 1000ms);
    circuit::time_point now{100s};
    for (int i = 0; i < 4; ++i)
        of_five.failed(now);
    of_five.succeeded();
    for (int i = 0; i < 4; ++i)
        of_five.failed(now);
    EXPECT_FALSE(of_five.open());
    of_five.failed(now);
    EXPECT_TRUE(of_five.open());
    EXPECT_FALSE(of_five.admit(now));
    EXPECT_FALSE(of_five.admit(now + 999ms));
    EXPECT_TRUE(of_five.would_admit(now + 1s));
    EXPECT_TRUE(of_five.admit(now + 1s));
    EXPECT_FALSE(of_five.admit(now + 1s));  // that one is under way
    of_five.failed(now + 1500ms);
    EXPECT_TRUE(of_five.admit(now + 2s));
    of_five.succeeded();
    EXPECT_TRUE(of_five.admit(now + 2s));
    EXPECT_TRUE(of_five.admit(now + 2s));
}

TEST(s3_health, tells_full_from_away)
{
    log_capture log;
    health state;
    state.note(access::write, {verdict::full, "it is full"});
    EXPECT_TRUE(state.refuses(access::write));
    EXPECT_FALSE(state.refuses(access::read));
    EXPECT_FALSE(state.admit(access::write));
    EXPECT_TRUE(state.admit(access::read));
    EXPECT_EQ(state.trouble(), "it is full");
    state.note(access::read, {});
    EXPECT_TRUE(state.refuses(access::write));
    state.note(access::write, {});
    EXPECT_FALSE(state.trouble());
    for (int i = 0; i < 7; ++i)
        state.note(access::read, {verdict::try_again, "it is away"});
    EXPECT_TRUE(state.refuses(access::read));
    EXPECT_TRUE(state.refuses(access::write));
    EXPECT_EQ(state.trouble(), "it is away");
    state.note(access::read, {verdict::missing, ""});  // it has answered
    EXPECT_FALSE(state.trouble());
}

TEST(s3_retry_plan, doubles_and_gives_up)
{
    const retry_plan::time_point now{100s};
    retry_plan plan(now, [] { return 0.5; });
    EXPECT_EQ(plan.after_failure(now), 75ms);
    EXPECT_EQ(plan.after_failure(now), 150ms);
    EXPECT_EQ(plan.after_failure(now + 3s), 300ms);
    EXPECT_EQ(plan.after_failure(now), std::nullopt);
    plan.reset(now + 30s);
    EXPECT_EQ(plan.after_failure(now + 33s), 75ms);
    EXPECT_EQ(plan.after_failure(now + 34s), std::nullopt);
}

TEST(s3_object_reader, accepts_only_the_range_it_asked_for)
{
    EXPECT_TRUE(is_content_range("bytes 10-19/100", {10, 10}, 100));
    for (const std::string_view other : {"", "bytes 10-19/*", "bytes 10-19/101", "bytes 10-18/100",
                                         "bytes 0-9/100", "bytes */100", "bytes 10-19/1000"})
        EXPECT_FALSE(is_content_range(other, {10, 10}, 100)) << other;
}

TEST(s3_credentials, are_read_from_two_lines)
{
    const key_pair expected{"restante:s3", "se=cret"};
    EXPECT_EQ(parse_credentials("access_key = restante:s3\nsecret_key = se=cret\n"), expected);
    EXPECT_EQ(parse_credentials("# x\n[default]\r\naws_access_key_id=restante:s3\r\n"
                                "aws_secret_access_key=se=cret\r\nregion = x"),
              expected);
    for (const std::string_view wrong :
         {"", "access_key = a", "access_key = a\nsecret_key =", "access_key = a\nsecret_key = b c", "a\nb",
          "access_key = a\naccess_key = b\nsecret_key = c", "access_key = a\nsecret_key = \xC3\xBC"})
        EXPECT_FALSE(parse_credentials(wrong)) << wrong;
}

TEST(s3_credentials, a_file_that_cannot_be_read_is_told_with_the_reason)
{
    EXPECT_EQ(credentials::load("/nowhere/keys").error().message,
              "--s3-credentials-file names /nowhere/keys, which cannot be read: No such file or directory");
    EXPECT_THAT(credentials::load("/tmp").error().message, HasSubstr("cannot be read: Is a directory"));
}

TEST(s3_credentials, a_reload_that_fails_keeps_the_keys_and_logs_none)
{
    log_capture log;
    const temporary_file file("access_key = first-key\nsecret_key = first-secret\n");
    ::chmod(file.path().c_str(), 0644);
    auto keys = credentials::load(file.path());
    ASSERT_TRUE(keys);
    credentials held(file.path(), *keys);
    std::ofstream(file.path()) << "access_key = second-key\n";
    held.reload();
    EXPECT_EQ(held.current()->secret_key, "first-secret");
    std::ofstream(file.path()) << "access_key = second-key\nsecret_key = second-secret\n";
    held.reload();
    EXPECT_EQ(held.current()->secret_key, "second-secret");
    std::string text;
    for (const auto& line : log.lines())
        text += line;
    EXPECT_THAT(text, HasSubstr("s3_credentials_file_open"));
    EXPECT_THAT(text, HasSubstr("s3_credentials_not_reloaded"));
    EXPECT_THAT(text, HasSubstr("s3_credentials_reloaded"));
    for (const std::string_view secret : {"first-key", "first-secret", "second-key", "second-secret"})
        EXPECT_THAT(text, Not(HasSubstr(secret)));
}

}  // namespace
}  // namespace restante::s3
