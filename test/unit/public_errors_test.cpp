#include "http/message/public_errors.hpp"

#include <boost/asio/error.hpp>
#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace restante {
namespace {

constexpr auto last_errc = errc::private_postgres_failed;

TEST(public_errors, every_error_has_a_row)
{
    // Internal errors: a client learns only that one occurred.
    const std::set<errc> internal = {errc::transaction_aborted, errc::unique_violation,
                                     errc::check_violation,     errc::wrong_column_type,
                                     errc::unexpected_null,     errc::sql_error,
                                     errc::internal_error,      errc::bad_setting,
                                     errc::bad_certificate,     errc::io_error,
                                     errc::migration_failed,    errc::private_postgres_failed};
    for (int value = 1; value <= static_cast<int>(last_errc); ++value) {
        const auto e = static_cast<errc>(value);
        const auto told = public_error_of(e);
        EXPECT_NE(make_error_code(e).message(), "unknown error") << value;
        EXPECT_GE(told.status, 400u) << value;
        EXPECT_LT(told.status, 600u) << value;
        EXPECT_FALSE(told.sentence.empty()) << value;
        EXPECT_EQ(told.code.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string_view::npos)
            << told.code;
        EXPECT_EQ(told.code == "internal_error", internal.contains(e)) << told.code << " for " << value;
        EXPECT_EQ(told.www_authenticate, told.status == 401) << value;
        // The same ack would meet the same digest again.
        if (told.status == 503 || told.status == 429 || (told.status == 409 && e != errc::digest_mismatch))
            EXPECT_GT(told.retry_after.value_or(0), 0) << value;
    }
}

TEST(public_errors, sentences_of_the_contract)
{
    const std::map<errc, std::pair<unsigned, std::string_view>> rows = {
        {errc::missing_token, {401, "missing workspace auth token"}},
        {errc::invalid_token, {401, "invalid workspace auth token"}},
        {errc::workspace_not_found, {404, "workspace not found"}},
        {errc::no_callback_url, {422, "workspace has no callback URL"}},
        {errc::malformed_multipart, {400, "malformed multipart body"}},
        {errc::no_files, {400, "no files field in request"}},
        {errc::too_many_files, {400, "too many files"}},
        {errc::file_too_large, {413, "file exceeds per-file cap"}},
        {errc::request_too_large, {413, "request exceeds total cap"}},
        {errc::empty_file, {400, "empty file"}},
        {errc::could_not_stage, {500, "could not stage files"}},
        {errc::could_not_log, {500, "could not log upload activity"}},
        {errc::not_found, {404, "pending upload not found, expired, or already acked"}},
        {errc::invalid_workspace_id, {400, "invalid workspace ID"}},
        {errc::invalid_file_id, {400, "invalid file_id"}},
    };
    for (const auto& [e, expected] : rows) {
        EXPECT_EQ(public_error_of(e).status, expected.first) << expected.second;
        EXPECT_EQ(public_error_of(e).sentence, expected.second);
    }
    EXPECT_EQ(public_error_of(errc::workspace_unreachable).code, "workspace_unreachable");
    EXPECT_EQ(public_error_of(errc::idempotency_key_reused).code, "idempotency_key_reused");
    EXPECT_EQ(public_error_of(errc::idempotency_key_running).retry_after, 1);
    EXPECT_NE(public_error_of(errc::cursor_gone).sentence.find("omit since_id"), std::string_view::npos);
}

TEST(public_errors, a_database_in_trouble_is_503_platform_unavailable)
{
    for (const auto e : {errc::database_unavailable, errc::database_busy, errc::database_timeout,
                         errc::database_unsafe, errc::schema_missing, errc::commit_outcome_unknown}) {
        EXPECT_EQ(public_error_of(e).status, 503u) << make_error_code(e).message();
        EXPECT_EQ(public_error_of(e).code, "platform_unavailable") << make_error_code(e).message();
        const bool says_so = error_body(e).find(R"("stored":"unknown")") != std::string::npos;
        EXPECT_EQ(says_so, e == errc::commit_outcome_unknown) << make_error_code(e).message();
    }
}

TEST(public_errors, errors_of_others_say_nothing)
{
    EXPECT_EQ(to_errc(errc::no_files), errc::no_files);
    EXPECT_EQ(to_errc(boost::asio::error::connection_refused), errc::internal_error);
    EXPECT_EQ(refusal(error_code(boost::asio::error::connection_refused)).code, errc::internal_error);
    EXPECT_EQ(public_error_of(static_cast<errc>(9999)).status, 500u);
}

TEST(public_errors, a_body_names_the_error_first_and_then_the_fields)
{
    EXPECT_EQ(error_body(errc::no_files), R"({"error":"no files field in request","code":"no_files"})");
    EXPECT_EQ(error_body({errc::bad_request, "delivery_mode must be poll or push"}),
              R"({"error":"delivery_mode must be poll or push","code":"bad_request"})");
    EXPECT_EQ(
        error_body(
            {errc::file_too_large, boost::json::object{{"filename", "a\"b"}, {"size", 7}, {"max", 5}}}),
        R"({"error":"file exceeds per-file cap","code":"file_too_large","filename":"a\"b","size":7,"max":5})");
}

TEST(public_errors, a_body_is_json_whatever_it_quotes)
{
    const auto body =
        error_body({errc::empty_file, boost::json::object{{"filename", "gr\xc3\xbc\xff\xc3.txt\n"}}});
    const auto parsed = boost::json::parse(body).as_object();
    EXPECT_EQ(parsed.at("filename").as_string(), "gr\xc3\xbc\xef\xbf\xbd\xef\xbf\xbd.txt\n");
}

}  // namespace
}  // namespace restante
