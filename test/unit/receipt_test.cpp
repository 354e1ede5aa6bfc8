#include "core/encoding.hpp"
#include "server/api/files/ack_form.hpp"
#include "server/api/receipts/receipt_json.hpp"
#include "server/api/receipts/receipt_query.hpp"
#include "storage/upload_events.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace restante {
namespace {

TEST(receipt_states, an_ack_is_final_and_so_is_expiry)
{
    using enum upload_state;
    EXPECT_EQ(state_of(false, false, false), staged);
    EXPECT_EQ(state_of(true, false, false), fetched);
    for (const bool was_fetched : {false, true}) {
        EXPECT_EQ(state_of(was_fetched, false, true), expired);
        EXPECT_EQ(state_of(was_fetched, true, false), acked);
        EXPECT_EQ(state_of(was_fetched, true, true), acked) << "an ack in time stands";
    }
}

TEST(receipt_states, progress_only_rises)
{
    using enum upload_state;
    EXPECT_LT(progress_of(staged), progress_of(fetched));
    EXPECT_LT(progress_of(fetched), progress_of(acked));
    EXPECT_EQ(progress_of(acked), progress_of(expired));
}

TEST(upload_events, say_what_they_are_about)
{
    const upload_change what{.workspace = make_uuid_v4(), .file = make_uuid_v4(), .filename = "a\"b.txt"};
    for (const auto state : {upload_state::fetched, upload_state::acked, upload_state::expired}) {
        const auto news = read_upload_event(make_upload_event(state, what));
        ASSERT_TRUE(news);
        EXPECT_EQ(news->file, what.file);
        EXPECT_EQ(news->reached, state);
    }
    EXPECT_FALSE(read_upload_event({.name = "WORKSPACE_ONLINE", .payload = "{\"file_id\":\"x\"}"}));
    for (const auto* payload : {"", "{}", "{\"file_id\":", "{\"file_id\":\"", "{\"file_id\":\"abc\"}"})
        EXPECT_FALSE(read_upload_event({.name = "UPLOAD_ACKED", .payload = payload})) << payload;
}

receipt_request asked_with(std::string_view target)
{
    const auto parsed = parse_request_target(target);
    return *read_receipt_query(parsed->query);
}

TEST(receipt_query, waits_for_an_ack_unless_told_otherwise)
{
    EXPECT_EQ(asked_with("/x").wait.count(), 0);
    EXPECT_EQ(asked_with("/x?wait=7").until, upload_state::acked);
    EXPECT_EQ(asked_with("/x?wait=7&until=fetched").until, upload_state::fetched);
    EXPECT_EQ(asked_with("/x?wait=100000").wait.count(), 55);
    for (const auto* bad : {"/x?until=staged", "/x?until=expired", "/x?wait=-1", "/x?wait=soon"})
        EXPECT_EQ(read_receipt_query(parse_request_target(bad)->query).error().code, errc::bad_request)
            << bad;
}

TEST(receipt_query, a_file_that_has_ended_is_waited_for_no_longer)
{
    const auto until_fetched = asked_with("/x?until=fetched"), until_acked = asked_with("/x?until=acked");
    EXPECT_FALSE(until_fetched.is_met_by(upload_state::staged));
    EXPECT_TRUE(until_fetched.is_met_by(upload_state::fetched));
    EXPECT_FALSE(until_acked.is_met_by(upload_state::fetched));
    for (const auto ended : {upload_state::acked, upload_state::expired}) {
        EXPECT_TRUE(until_fetched.is_met_by(ended));
        EXPECT_TRUE(until_acked.is_met_by(ended));
    }
}

TEST(receipt_answer, has_every_key_whatever_the_state)
{
    const auto answer = receipt_json({.file_id = make_uuid_v4()});
    const auto parsed = boost::json::parse(answer).as_object();
    for (const auto* key : {"file_id", "name", "original_name", "mimeType", "size", "sha256", "state",
                            "staged_at", "fetched_at", "acked_at", "expired_at", "expires_at"})
        EXPECT_TRUE(parsed.contains(key)) << key;
    EXPECT_EQ(parsed.size(), 12u);
    EXPECT_EQ(parsed.at("state"), "staged");
    EXPECT_TRUE(parsed.at("expired_at").is_null());
}

TEST(ack_form, an_ack_may_say_what_arrived)
{
    const auto file = make_uuid_v4();
    const auto digest = sha256_of("text");
    const std::string hex = to_hex(digest);
    for (const std::string plain : {"", "{}", R"({"sha256":null})", R"({"other":1})"})
        EXPECT_FALSE(read_ack(file, plain)->sha256) << plain;
    EXPECT_EQ(read_ack(file, R"({"sha256":")" + hex + "\"}")->sha256, digest);
    for (const std::string broken : {"{", "x", "{\"sha256\":}"})
        EXPECT_EQ(read_ack(file, broken).error().code, errc::malformed_json) << broken;
    for (const std::string& bad :
         {std::string("[]"), std::string("null"), std::string(R"({"sha256":7})"),
          R"({"sha256":")" + hex.substr(1) + "\"}", R"({"sha256":"x)" + hex.substr(1) + "\"}"})
        EXPECT_EQ(read_ack(file, bad).error().code, errc::bad_request) << bad;
}

TEST(ack_form, a_batch_mixes_ids_and_digests)
{
    const auto first = to_string(make_uuid_v4()), second = to_string(make_uuid_v4());
    const auto hex = to_hex(sha256_of("text"));
    const auto body = boost::json::parse("{\"file_ids\":[\"" + first + "\",{\"file_id\":\"" + second +
                                         "\",\"sha256\":\"" + hex + "\"},\"" + first + "\"]}");
    const auto files = read_ack_batch(body);
    ASSERT_EQ(files->size(), 2u);
    EXPECT_FALSE((*files)[0].sha256);
    EXPECT_EQ((*files)[1].sha256, sha256_of("text"));
    for (const auto* bad : {R"({"file_ids":[{}]})", R"({"file_ids":[{"file_id":1}]})", R"({"file_ids":[7]})"})
        EXPECT_EQ(read_ack_batch(boost::json::parse(bad)).error().code, errc::invalid_file_id) << bad;
}

}  // namespace
}  // namespace restante
