#include "core/encoding.hpp"
#include "storage/content/s3/request.hpp"
#include "storage/content/s3/signature.hpp"
#include "storage/content/s3/uri_encoding.hpp"

#include <gtest/gtest.h>

namespace restante::s3 {
namespace {

using std::chrono::sys_days;
using std::chrono::year;
using http = boost::beast::http::verb;

// The keys, the date and the four signatures are the examples of Amazon's description of Signature Version 4
// for S3. Each can be computed again with Python:
//
//   import hmac, hashlib
//   h = lambda k, m: hmac.new(k, m.encode(), hashlib.sha256).digest()
//   k = h(h(h(h(b"AWS4" + secret, "20130524"), "us-east-1"), "s3"), "aws4_request")
//   h(k, "AWS4-HMAC-SHA256\n20130524T000000Z\n20130524/us-east-1/s3/aws4_request\n" +
//        hashlib.sha256(canonical_request).hexdigest()).hex()
const key_pair example{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};
constexpr std::string_view date = "20130524T000000Z";
constexpr std::string_view host = "examplebucket.s3.amazonaws.com";

std::string signature_of(const signed_parts& what)
{
    const auto text = authorization(example, "us-east-1", date, what);
    return text.substr(text.rfind('=') + 1);
}

TEST(s3_signature, of_the_published_examples)
{
    EXPECT_EQ(signature_of({"GET",
                            "/test.txt",
                            "",
                            {{"host", host},
                             {"range", "bytes=0-9"},
                             {"x-amz-content-sha256", empty_payload},
                             {"x-amz-date", date}},
                            empty_payload}),
              "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
    EXPECT_EQ(signature_of({"GET",
                            "/",
                            encode_query({{"lifecycle", ""}}),
                            {{"host", host}, {"x-amz-content-sha256", empty_payload}, {"x-amz-date", date}},
                            empty_payload}),
              "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    EXPECT_EQ(signature_of({"GET",
                            "/",
                            encode_query({{"prefix", "J"}, {"max-keys", "2"}}),
                            {{"host", host}, {"x-amz-content-sha256", empty_payload}, {"x-amz-date", date}},
                            empty_payload}),
              "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
    const auto payload = to_hex(sha256_of("Welcome to Amazon S3."));
    EXPECT_EQ(signature_of({"PUT",
                            encode_path("/test$file.text"),
                            "",
                            {{"date", "Fri, 24 May 2013 00:00:00 GMT"},
                             {"host", host},
                             {"x-amz-content-sha256", payload},
                             {"x-amz-date", date},
                             {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
                            payload}),
              "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

// RFC 4231, test cases 1, 2 and 6.
TEST(s3_signature, hmac_of_the_published_cases)
{
    EXPECT_EQ(to_hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
              "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(to_hex(hmac_sha256(std::string(131, '\xaa'),
                                 "Test Using Larger Than Block-Size Key - Hash Key First")),
              "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(s3_signature, dates)
{
    EXPECT_EQ(amz_date(sys_days(year(2013) / 5 / 24)), date);
    EXPECT_EQ(amz_date(sys_days(year(2026) / 11 / 8) + std::chrono::seconds(86399)), "20261108T235959Z");
}

TEST(s3_uri_encoding, keeps_what_signatures_keep)
{
    EXPECT_EQ(encode_path("a/b-c._~/ü+ %"), "a/b-c._~/%C3%BC%2B%20%25");
    EXPECT_EQ(encode_value("2026-11-18T07/x"), "2026-11-18T07%2Fx");
    // Sorted by what is sent: "A%2F" comes before "AB", although '/' would come before too.
    EXPECT_EQ(encode_query({{"uploadId", "a=b&c"}, {"partNumber", "2"}, {"AB", ""}, {"A/", "1"}}),
              "A%2F=1&AB=&partNumber=2&uploadId=a%3Db%26c");
    EXPECT_EQ(encode_query({}), "");
}

std::string field_of(const client_request& request, std::string_view name)
{
    for (const auto& field : request.fields)
        if (field.name == name)
            return field.value;
    return "absent";
}

TEST(s3_request, is_in_path_style_and_signs_what_it_sends)
{
    const bucket_place place{
        .endpoint = *parse_http_url("http://127.0.0.1:7480/s3/"), .bucket = "files", .prefix = "p/"};
    const call what{
        .method = http::put, .object = place.object("2026-11-18T07/ü"), .query = {{"uploadId", "x/"}}};
    const auto request = make_request(place, example, what, sys_days(year(2013) / 5 / 24));
    EXPECT_EQ(request.target, "/s3/files/p/2026-11-18T07/%C3%BC?uploadId=x%2F");
    EXPECT_EQ(field_of(request, "x-amz-date"), date);
    EXPECT_EQ(field_of(request, "x-amz-content-sha256"), empty_payload);
    EXPECT_EQ(field_of(request, "host"), "absent");  // the client adds it, as it was signed
    const signed_parts parts{
        "PUT",
        "/s3/files/p/2026-11-18T07/%C3%BC",
        "uploadId=x%2F",
        {{"host", "127.0.0.1:7480"}, {"x-amz-content-sha256", empty_payload}, {"x-amz-date", date}},
        empty_payload};
    EXPECT_EQ(field_of(request, "authorization"), authorization(example, "us-east-1", date, parts));
    EXPECT_EQ(field_of(request, "authorization").find(example.secret_key), std::string::npos);
}

TEST(s3_request, signs_range_and_checksum_when_there_are_any)
{
    const bucket_place place{.endpoint = *parse_http_url("https://s3.example"), .bucket = "files"};
    const call what{.content_md5 = "abc=", .range = "bytes=0-9"};
    const auto request = make_request(place, example, what, sys_days(year(2013) / 5 / 24));
    EXPECT_EQ(request.target, "/files");
    EXPECT_EQ(field_of(request, "range"), "bytes=0-9");
    EXPECT_NE(field_of(request, "authorization")
                  .find("SignedHeaders=content-md5;host;range;x-amz-content-sha256;x-amz-date,"),
              std::string::npos);
}

}  // namespace
}  // namespace restante::s3
