// W3C Trace Context: which traceparents are continued, and that nothing of the others is.
#include "core/trace.hpp"

#include "http/client/client_request.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

const std::string id = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string caller = "00f067aa0ba902b7";
const std::string zeros(32, '0');

bool is_lower_hex(std::string_view text)
{
    return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

TEST(trace, a_valid_traceparent_is_continued)
{
    struct {
        std::string text;
        std::string flags;
    } const cases[] = {
        {"00-" + id + '-' + caller + "-00", "00"},
        {"00-" + id + '-' + caller + "-01", "01"},
        {"00-" + id + '-' + caller + "-ff", "01"},  // flags that we do not know are not passed on
        {"00-" + id + '-' + caller + "-02", "00"},
        {"01-" + id + '-' + caller + "-01", "01"},  // a later version begins in the same way
        {"cc-" + id + '-' + caller + "-01-what-comes-later", "01"},
        {"fe-" + id + '-' + caller + "-01-", "01"},
        {"00-" + zeros.substr(1) + "1-" + zeros.substr(17) + "1-01", "01"},
    };
    for (const auto& each : cases) {
        SCOPED_TRACE(each.text);
        const trace_context made(each.text);
        EXPECT_EQ(made.id(), each.text.substr(3, 32));
        EXPECT_EQ(made.parent(), each.text.substr(36, 16));
        EXPECT_NE(made.span(), made.parent());
        EXPECT_EQ(made.traceparent(),
                  "00-" + std::string(made.id()) + '-' + std::string(made.span()) + '-' + each.flags);
    }
}

TEST(trace, anything_else_begins_a_new_one)
{
    const std::string good = "00-" + id + '-' + caller + "-01";
    std::vector<std::string> cases = {
        "",
        "00",
        good.substr(0, 54),
        good + '1',
        good + '-',
        good + "-more",  // version 00 has nothing more
        "cc-" + id + '-' + caller + "-01.more",
        "cc-" + id + '-' + caller + "-011",
        "ff-" + id + '-' + caller + "-01",  // a version that is forbidden
        "0g-" + id + '-' + caller + "-01",
        "0-" + id + '-' + caller + "-001",
        "00-" + zeros + '-' + caller + "-01",  // ids of zeros
        "00-" + id + '-' + zeros.substr(16) + "-01",
        "00-" + id.substr(1) + "G-" + caller + "-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-" + caller + "-01",  // upper case
        "00-" + id + "-00F067AA0BA902B7-01",
        "00-" + id + '-' + caller + "-0G",
        "00-" + id + '-' + caller + "-0A",
        "00_" + id + '-' + caller + "-01",
        "00-" + id + '_' + caller + "-01",
        "00-" + id + '-' + caller + "_01",
        ' ' + good,
        good + ' ',
        good + ',' + good,
        std::string("00-") + id.substr(0, 31) + '\0' + '-' + caller + "-01",
        std::string(8000, '0'),
    };
    for (const auto& text : cases) {
        SCOPED_TRACE(text);
        const trace_context made(text);
        EXPECT_NE(made.id(), id);
        EXPECT_EQ(made.parent(), "");
        EXPECT_TRUE(is_lower_hex(made.id()) && made.id().size() == 32);
        EXPECT_TRUE(is_lower_hex(made.span()) && made.span().size() == 16);
        EXPECT_EQ(made.traceparent(),
                  "00-" + std::string(made.id()) + '-' + std::string(made.span()) + "-00");
    }
}

TEST(trace, new_ones_are_valid_and_differ)
{
    const trace_context one, other;
    EXPECT_NE(one.id(), other.id());
    EXPECT_NE(one.span(), other.span());
    EXPECT_EQ(trace_context(one.traceparent()).id(), one.id());
    EXPECT_EQ(trace_context(one.traceparent()).parent(), one.span());
}

TEST(trace, is_sent_with_requests_that_are_made_on_its_behalf)
{
    const trace_context made;
    client_request what{.trace = &made};
    EXPECT_NE(make_request_head(what, request_framing::no_body, 0)
                  .find("traceparent: " + made.traceparent() + "\r\n"),
              std::string::npos);
    what.trace = nullptr;
    EXPECT_EQ(make_request_head(what, request_framing::no_body, 0).find("traceparent"), std::string::npos);
}

}  // namespace
}  // namespace restante
