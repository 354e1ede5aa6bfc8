#include "server/api/uploads/upload_grant.hpp"

#include "server/api/common/type_patterns.hpp"
#include "server/api/grants/grant_form.hpp"
#include "server/api/uploads/upload.hpp"
#include "server/api/workspaces/token_form.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace restante {
namespace {

upload_grant grant_of(grant_amounts limit, grant_amounts used, bool keyed = false,
                      std::vector<std::string> types = {})
{
    return {std::make_shared<const grant_terms>(grant_terms{limit, used, std::move(types)}), keyed};
}

errc code_of(const std::optional<refusal>& refused)
{
    return refused ? refused->code : errc{};
}

TEST(upload_grant, without_one_nothing_is_refused)
{
    const upload_grant none(nullptr, false);
    EXPECT_FALSE(none.refuse_head(1ull << 40) || none.refuse_file(1000, "a/b") ||
                 none.refuse_bytes(1ull << 40));
}

TEST(upload_grant, what_is_left_is_refused_beyond_and_what_never_fits_is_too_large)
{
    const auto grant = grant_of({3, 4, 100}, {1, 2, 60});
    EXPECT_FALSE(grant.refuse_head(0));
    EXPECT_FALSE(grant.refuse_file(2, ""));
    EXPECT_EQ(code_of(grant.refuse_file(3, "")), errc::grant_exhausted);
    EXPECT_FALSE(grant.refuse_bytes(40));
    EXPECT_EQ(code_of(grant.refuse_bytes(41)), errc::grant_exhausted);
    EXPECT_EQ(code_of(grant.refuse_bytes(100)), errc::grant_exhausted);
    EXPECT_EQ(code_of(grant.refuse_bytes(101)), errc::request_too_large);
    EXPECT_EQ(grant.refuse_bytes(101)->fields.at("max"), 100);
}

TEST(upload_grant, one_that_can_take_no_file_any_more_is_refused_before_the_body)
{
    EXPECT_FALSE(grant_of({3, 4, 100}, {2, 3, 99}).refuse_head(0));
    EXPECT_EQ(code_of(grant_of({3, 4, 100}, {3, 2, 60}).refuse_head(0)), errc::grant_exhausted);
    EXPECT_EQ(code_of(grant_of({3, 4, 100}, {2, 4, 60}).refuse_head(0)), errc::grant_exhausted);
    EXPECT_EQ(code_of(grant_of({3, 4, 100}, {2, 2, 100}).refuse_head(0)), errc::grant_exhausted);
    EXPECT_FALSE(grant_of({3, 4, 100}, {2, 4, 100}, true).refuse_head(0));
}

TEST(upload_grant, an_announced_length_is_refused_before_the_body)
{
    const auto grant = grant_of({1, 1, 1000}, {0, 0, 400});
    EXPECT_FALSE(grant.refuse_head(framing_allowance + 600));
    EXPECT_EQ(code_of(grant.refuse_head(framing_allowance + 601)), errc::grant_exhausted);
    EXPECT_EQ(code_of(grant.refuse_head(framing_allowance + 1001)), errc::request_too_large);
}

TEST(upload_grant, under_a_key_only_the_transaction_knows_what_is_left)
{
    const auto grant = grant_of({1, 2, 100}, {1, 2, 100}, true);
    EXPECT_FALSE(grant.refuse_head(0) || grant.refuse_file(2, "") || grant.refuse_bytes(100));
    EXPECT_EQ(code_of(grant.refuse_file(3, "")), errc::grant_exhausted);
    EXPECT_EQ(code_of(grant.refuse_bytes(101)), errc::request_too_large);
}

TEST(upload_grant, types_are_told_from_the_head_of_the_part)
{
    const auto grant = grant_of({1, 9, 100}, {}, false, {"image/*", "Application/PDF"});
    for (const auto* right : {"image/png", "IMAGE/JPEG; q=1", "application/pdf", "image/svg+xml"})
        EXPECT_FALSE(grant.refuse_file(1, right)) << right;
    for (const auto* wrong :
         {"", "image", "image/", "imagex/png", "application/pdfx", "text/html", "image /png", "/png"})
        EXPECT_EQ(code_of(grant.refuse_file(1, wrong)), errc::unsupported_media_type) << wrong;
}

TEST(upload_grant, patterns)
{
    for (const auto* good : {"image/*", "text/plain", "application/vnd.ms-excel", "x/*"})
        EXPECT_TRUE(is_type_pattern(good)) << good;
    for (const auto* bad :
         {"", "*", "*/*", "image", "image/", "/*", "image/**", "im*ge/png", "a/b;c=d", "a b/c"})
        EXPECT_FALSE(is_type_pattern(bad)) << bad;
    EXPECT_FALSE(is_type_pattern("a/" + std::string(200, 'x')));
}

answerable<grant_request> grant_from(std::string_view text)
{
    return read_grant_request(boost::json::parse(text));
}

TEST(grant_form, defaults_and_every_field)
{
    const auto plain = grant_from("{}");
    EXPECT_EQ(plain->lifetime, std::chrono::seconds(900));
    EXPECT_EQ(plain->terms.limit, (grant_amounts{1, 5, 52'428'800}));
    EXPECT_TRUE(plain->terms.types.empty());
    const auto all = grant_from(
        R"({"expires_in":60,"max_requests":2,"max_files":3,"max_bytes":4,"types":["image/*"],"note":"for Bo"})");
    EXPECT_EQ(all->lifetime, std::chrono::seconds(60));
    EXPECT_EQ(all->terms.limit, (grant_amounts{2, 3, 4}));
    EXPECT_EQ(all->terms.types, std::vector<std::string>{"image/*"});
    EXPECT_EQ(all->note, "for Bo");
}

TEST(grant_form, what_is_refused)
{
    for (const auto* wrong :
         {"[]", "1", R"({"expires_in":0})", R"({"expires_in":2592001})", R"({"expires_in":"900"})",
          R"({"max_requests":0})", R"({"max_requests":1.5})", R"({"max_files":-1})", R"({"max_bytes":0})",
          R"({"max_bytes":1099511627777})", R"({"types":[]})", R"({"types":"image/*"})", R"({"types":[1]})",
          R"({"types":["image"]})", R"({"note":"a\u0000b"})", R"({"note":7})"})
        EXPECT_EQ(grant_from(wrong).error().code, errc::bad_request) << wrong;
}

TEST(token_form, scope_name_and_life)
{
    const auto from = [](std::string_view text) { return read_token_request(boost::json::parse(text)); };
    EXPECT_EQ(from("{}")->scope, token_scope::full);
    EXPECT_FALSE(from("{}")->lifetime);
    const auto all = from(R"({"scope":"upload","name":"canvas","expires_in":60})");
    EXPECT_EQ(all->scope, token_scope::upload);
    EXPECT_EQ(all->name, "canvas");
    EXPECT_EQ(all->lifetime, std::chrono::seconds(60));
    for (const auto* wrong : {R"({"scope":"grant"})", R"({"scope":"admin"})", R"({"scope":1})", "null",
                              R"({"expires_in":0})", R"({"expires_in":315360001})"})
        EXPECT_EQ(from(wrong).error().code, errc::bad_request) << wrong;
}

}  // namespace
}  // namespace restante
