#include "server/api/workspaces/registration_form.hpp"
#include "server/api/workspaces/registration_policy.hpp"
#include "test/support/log_capture.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace restante {
namespace {

const std::string id = "6f1d4a8e-2c3b-4d5e-8f90-123456789abc";

settings listening_on(std::vector<std::string> plain, std::vector<std::string> tls = {})
{
    settings config;
    config.listen.clear();
    for (auto& host : plain)
        config.listen.push_back({host, 0});
    for (auto& host : tls)
        config.listen_tls.push_back({host, 0});
    return config;
}

std::string warnings_of(const settings& config)
{
    const log_capture log;
    warn_about_registration(config);
    std::string all;
    for (const auto& line : log.lines())
        all += line;
    return all;
}

TEST(registration, is_open_while_every_listener_is_on_loopback)
{
    EXPECT_TRUE(registration_is_open(listening_on({"127.0.0.1"})));
    EXPECT_TRUE(registration_is_open(listening_on({"127.0.0.1", "::1"}, {"localhost"})));
    EXPECT_FALSE(registration_is_open(listening_on({"127.0.0.1", "0.0.0.0"})));
    EXPECT_FALSE(registration_is_open(listening_on({"127.0.0.1"}, {"::"})));
    EXPECT_FALSE(registration_is_open(listening_on({}, {"192.0.2.1"})));
}

TEST(registration, is_open_under_dev_and_as_the_setting_says)
{
    auto outside = listening_on({"0.0.0.0"});
    outside.dev = true;
    EXPECT_TRUE(registration_is_open(outside));
    outside.registration = registration_policy::admin;
    EXPECT_FALSE(registration_is_open(outside));
    outside.dev = false;
    outside.registration = registration_policy::open;
    EXPECT_TRUE(registration_is_open(outside));
    auto inside = listening_on({"127.0.0.1"});
    inside.registration = registration_policy::admin;
    EXPECT_FALSE(registration_is_open(inside));
}

TEST(registration, is_open_to_what_was_forwarded_only_where_the_setting_says_open)
{
    auto inside = listening_on({"127.0.0.1"});
    EXPECT_EQ(registration_door(inside), open_registration::unless_forwarded);
    inside.registration = registration_policy::open;
    EXPECT_EQ(registration_door(inside), open_registration::everybody);
    EXPECT_EQ(registration_door(listening_on({"0.0.0.0"})), open_registration::nobody);
}

TEST(registration, warns_when_strangers_can_register_or_nobody_can)
{
    EXPECT_EQ(warnings_of(listening_on({"127.0.0.1"})), "");
    auto outside = listening_on({"0.0.0.0"});
    EXPECT_NE(warnings_of(outside).find("registration_closed"), std::string::npos);
    outside.admin_token = "an admin token of some length";
    EXPECT_EQ(warnings_of(outside), "");
    outside.registration = registration_policy::open;
    EXPECT_NE(warnings_of(outside).find("registration_open"), std::string::npos);
    EXPECT_EQ(warnings_of(outside).find(outside.admin_token), std::string::npos);
}

TEST(registration_form, reads_every_field)
{
    const auto read = read_registration(boost::json::parse(
        R"({"id":")" + id +
        R"(","delivery_mode":"push","url":"https://a.example/x","name":"n","agent_card":{"a":[1]},
            "something_new":true})"));
    ASSERT_TRUE(read);
    EXPECT_EQ(to_string(read->id), id);
    EXPECT_EQ(read->mode, delivery_mode::push);
    EXPECT_EQ(read->url, "https://a.example/x");
    EXPECT_EQ(read->name, "n");
    EXPECT_EQ(read->agent_card, R"({"a":[1]})");
}

TEST(registration_form, what_is_null_or_empty_is_absent)
{
    const auto read = read_registration(boost::json::parse(
        R"({"id":")" + id + R"(","delivery_mode":"poll","url":"","name":null,"agent_card":null})"));
    ASSERT_TRUE(read);
    EXPECT_FALSE(read->url);
    EXPECT_FALSE(read->name);
    EXPECT_FALSE(read->agent_card);
}

TEST(registration_form, a_refusal_names_the_field)
{
    const auto sentence_of = [](const std::string& members) {
        const auto read = read_registration(boost::json::parse(R"({"id":")" + id + '"' + members + '}'));
        return read ? "accepted" : read.error().sentence.value_or("");
    };
    EXPECT_NE(sentence_of("").find("delivery_mode"), std::string::npos);
    EXPECT_NE(sentence_of(R"(,"delivery_mode":"Poll")").find("delivery_mode"), std::string::npos);
    EXPECT_NE(sentence_of(R"(,"delivery_mode":"push")").find("url"), std::string::npos);
    EXPECT_NE(sentence_of(R"(,"delivery_mode":"push","url":"x")").find("url"), std::string::npos);
    EXPECT_NE(sentence_of(R"(,"delivery_mode":"poll","url":"a\u0000b")").find("url"), std::string::npos);
    EXPECT_NE(sentence_of(R"(,"delivery_mode":"poll","agent_card":"x")").find("agent_card"),
              std::string::npos);
    EXPECT_NE(sentence_of(R"(,"delivery_mode":"poll","name":")" + std::string(256, 'n') + '"').find("name"),
              std::string::npos);
    const auto no_id = read_registration(boost::json::parse(R"({"delivery_mode":"poll"})"));
    EXPECT_EQ(no_id.error().code, errc::invalid_workspace_id);
}

registration_form registered_with(const std::string& members)
{
    return *read_registration(boost::json::parse(R"({"id":")" + id + '"' + members + '}'));
}

TEST(registration_form, a_url_that_names_no_address_means_poll)
{
    const auto remote = registered_with(R"(,"url":"remote://no-inbound")");
    EXPECT_EQ(remote.mode, delivery_mode::poll);
    EXPECT_EQ(remote.url, "remote://no-inbound");
    EXPECT_TRUE(remote.mode_is_guess);
    const auto called = registered_with(R"(,"url":"https://a.example")");
    EXPECT_EQ(called.mode, delivery_mode::push);
    EXPECT_TRUE(called.mode_is_guess);
    EXPECT_FALSE(registered_with(R"(,"delivery_mode":"poll")").mode_is_guess);
}

TEST(registration_form, the_url_of_a_guessed_mode_is_checked_when_the_mode_is_known)
{
    for (const auto* url : {"nonsense", "ftp://example.org", "remote://no-inbound"}) {
        auto guessed = registered_with(R"(,"url":")" + std::string(url) + '"');
        guessed.mode = delivery_mode::push;
        EXPECT_FALSE(check_delivery(guessed)) << url;
        guessed.mode = delivery_mode::poll;
        EXPECT_TRUE(check_delivery(guessed)) << url;
    }
}

TEST(registration_form, the_url_of_a_workspace_that_polls_is_stored_as_sent)
{
    for (const auto* url : {"remote://no-inbound", "http://127.0.0.1:9", "anything at all"})
        EXPECT_EQ(registered_with(R"(,"delivery_mode":"poll","url":")" + std::string(url) + '"').url, url);
}

TEST(registration_form, the_card_may_say_the_name_and_where_to_call)
{
    const auto pushed = registered_with(
        R"(,"delivery_mode":"push","agent_card":{"url":"https://card.example","name":"from the card"})");
    EXPECT_EQ(pushed.url, "https://card.example");
    EXPECT_EQ(pushed.card_url, "https://card.example");
    EXPECT_EQ(pushed.card_name, "from the card");
    EXPECT_FALSE(pushed.name);
    const auto both = registered_with(
        R"(,"delivery_mode":"push","url":"https://a.example","agent_card":{"url":"http://169.254.1.1"})");
    EXPECT_EQ(both.url, "https://a.example");
    EXPECT_EQ(both.card_url, "http://169.254.1.1") << "it is checked as well";
    const auto polls =
        registered_with(R"(,"delivery_mode":"poll","agent_card":{"url":"http://10.0.0.1","name":"a\nb"})");
    EXPECT_FALSE(polls.url || polls.card_url || polls.card_name);
}

TEST(registration_form, callback_urls_are_absolute_http_without_a_password)
{
    for (const auto* good :
         {"http://localhost:8000", "https://example.org/a?b=c", "HTTPS://EXAMPLE.ORG", "http://[::1]/"})
        EXPECT_EQ(find_delivery_fault(delivery_mode::push, good), delivery_fault::none) << good;
    for (const auto* bad :
         {"", "example.org", "/path", "ftp://example.org", "http://", "http:///x", "javascript:x",
          "http://u:p@example.org", "http://u@example.org", "http://exa mple.org", "http://a\n"})
        EXPECT_EQ(find_delivery_fault(delivery_mode::push, bad), delivery_fault::bad_url) << bad;
    const auto too_long = "http://example.org/" + std::string(2048, 'x');
    EXPECT_EQ(find_delivery_fault(delivery_mode::push, too_long), delivery_fault::bad_url);
    EXPECT_EQ(find_delivery_fault(delivery_mode::poll, "nonsense"), delivery_fault::none);
    EXPECT_EQ(find_delivery_fault(delivery_mode::poll, too_long), delivery_fault::bad_url);
    EXPECT_EQ(find_delivery_fault(delivery_mode::poll, std::nullopt), delivery_fault::none);
    EXPECT_EQ(find_delivery_fault(delivery_mode::push, std::nullopt), delivery_fault::push_without_url);
}

}  // namespace
}  // namespace restante
