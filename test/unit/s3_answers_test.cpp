#include "storage/content/s3/answers.hpp"
#include "storage/content/s3/xml.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace restante::s3 {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> walk(std::string_view document)
{
    std::vector<std::string> seen;
    const auto take = [&seen](std::string_view path, std::string_view text) {
        seen.push_back(std::string(path) + '=' + std::string(text));
    };
    if (!read_xml(document, take))
        return {"refused"};
    return seen;
}

bool refused(std::string_view document)
{
    return walk(document) == std::vector<std::string>{"refused"};
}

TEST(s3_xml, reads_elements_in_the_order_of_their_ends)
{
    EXPECT_THAT(walk("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<A x='1' y=\"<>\"><b>1</b>\n <c/></A>\n"),
                ElementsAre("refused"));
    EXPECT_THAT(walk("<?xml version=\"1.0\"?>\n<A x='1' y=\">\"><b>1</b>\n <c/><d a='b' /></A>\n"),
                ElementsAre("A/b=1", "A/c=", "A/d=", "A="));
    EXPECT_THAT(walk("   \r\n<!-- x --><n:A xmlns:n=\"u\"><n:b> 1 </n:b><!-- <c> --></n:A><!-- y -->"),
                ElementsAre("A/b= 1 ", "A="));
    EXPECT_THAT(walk("<a>&lt;&amp;&gt;&quot;&apos;&#65;&#x20AC;&#x1F600;</a>"),
                ElementsAre("a=<&>\"'A\xE2\x82\xAC\xF0\x9F\x98\x80"));
}

TEST(s3_xml, refuses_what_it_does_not_know)
{
    for (const std::string_view document : {"",
                                            " ",
                                            "text",
                                            "<a>",
                                            "<a></b>",
                                            "<a></a",
                                            "<a></a><b></b>",
                                            "<a></a>x",
                                            "x<a></a>",
                                            "</a>",
                                            "<a",
                                            "<a b></a>",
                                            "<a b=c></a>",
                                            "<a b='c></a>",
                                            "<a><b>1</b>x</a>",
                                            "<a>x<b>1</b></a>",
                                            "<a>&no;</a>",
                                            "<a>&#0;</a>",
                                            "<a>&#xD800;</a>",
                                            "<a>&#x110000;</a>",
                                            "<a>&#;</a>",
                                            "<a>&amp</a>",
                                            "<a>&#99999999999;</a>",
                                            "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
                                            "<a><![CDATA[x]]></a>",
                                            "<a><?php ?></a>",
                                            "<a>\x01</a>",
                                            "<1:a:b></1:a:b>",
                                            "< a></a>",
                                            "<a><!-- </a>",
                                            "<?xml <a></a>"})
        EXPECT_TRUE(refused(document)) << document;
}

TEST(s3_xml, is_bounded)
{
    std::string deep;
    for (std::size_t i = 0; i < deepest_xml; ++i)
        deep += "<a>";
    std::string ends;
    for (std::size_t i = 0; i < deepest_xml; ++i)
        ends += "</a>";
    EXPECT_FALSE(refused(deep + ends));
    EXPECT_TRUE(refused("<a>" + deep + ends + "</a>"));
    EXPECT_FALSE(refused("<a>" + std::string(longest_xml_text, 'x') + "</a>"));
    EXPECT_TRUE(refused("<a>" + std::string(longest_xml_text + 1, 'x') + "</a>"));
    EXPECT_TRUE(refused("<a>" + std::string(longest_xml_text, 'x') + "&#65;</a>"));
    const std::string name(longest_xml_name + 1, 'n');
    EXPECT_TRUE(refused('<' + name + "></" + name + '>'));
}

// Found by the fuzzer: a key that was listed with an entity could not be read from the request that removes it.
TEST(s3_answers, a_listed_key_is_named_the_same_in_its_removal)
{
    for (const std::string_view key :
         {"&#127;", "\x7F", "&#13;&#10;&#9;", " a b ", "&lt;&amp;&gt;", "&#x20AC;", "&quot;'"}) {
        const auto page = parse_listing("<ListBucketResult><Contents><Key>" + std::string(key) +
                                        "</Key></Contents></ListBucketResult>");
        ASSERT_TRUE(page) << key;
        const std::vector<std::string> listed{page->objects.at(0).key};
        EXPECT_THAT(walk(make_removal(listed)), ::testing::Contains("Delete/Object/Key=" + listed[0])) << key;
    }
    const std::vector<std::string> with_return{"a\r"};
    EXPECT_THAT(make_removal(with_return), ::testing::HasSubstr("<Key>a&#13;</Key>"));
}

TEST(s3_answers, errors)
{
    const auto error =
        parse_error("<Error><Code>NoSuchKey</Code><Message>a &amp; b</Message><Key>k</Key></Error>");
    EXPECT_EQ(error.code, "NoSuchKey");
    EXPECT_EQ(error.message, "a & b");
    EXPECT_EQ(parse_error("<html><Code>x</Code></html>").code, "");
    EXPECT_EQ(parse_error("<Error><Code>NoSuchKey</Code>").code, "");
}

TEST(s3_answers, listings)
{
    const auto page = parse_listing(
        "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name><Contents><Key>k1</Key>"
        "<LastModified>2026-11-18T07:30:00.123Z</LastModified><ETag>&quot;x&quot;</ETag><Size>5</Size>"
        "<Owner><ID>i</ID></Owner></Contents><Contents><Key>k2</Key><LastModified>2026-11-18T07:30:00Z"
        "</LastModified><Size>0</Size></Contents><IsTruncated>true</IsTruncated>"
        "<NextContinuationToken>t</NextContinuationToken></ListBucketResult>");
    ASSERT_TRUE(page);
    ASSERT_EQ(page->objects.size(), 2u);
    EXPECT_EQ(page->objects[0].key, "k1");
    EXPECT_EQ(page->objects[0].size, 5u);
    EXPECT_EQ(rfc3339(page->objects[0].modified), "2026-11-18T07:30:00.123000Z");
    EXPECT_EQ(page->objects[1].key, "k2");
    EXPECT_EQ(page->next, "t");

    EXPECT_TRUE(parse_listing("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"));
    for (const std::string_view broken :
         {"<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
          "<ListBucketResult><Contents><Key>k</Key><Size>-1</Size></Contents></ListBucketResult>",
          "<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>", "<Error></Error>",
          "<ListBucketResult><Contents><Key>k</Key>"})
        EXPECT_FALSE(parse_listing(broken)) << broken;
}

TEST(s3_answers, uploads_in_parts)
{
    EXPECT_EQ(parse_upload_id("<InitiateMultipartUploadResult><UploadId>2~x</UploadId>"
                              "</InitiateMultipartUploadResult>"),
              "2~x");
    EXPECT_FALSE(parse_upload_id("<InitiateMultipartUploadResult></InitiateMultipartUploadResult>"));
    EXPECT_TRUE(
        is_completed("\n\n<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>"));
    EXPECT_FALSE(is_completed("<Error><Code>InternalError</Code></Error>"));
    const auto begun = parse_uploads(
        "<ListMultipartUploadsResult><Upload><Key>k</Key><UploadId>u</UploadId>"
        "<Initiated>2026-11-18T07:30:00.000Z</Initiated></Upload>"
        "</ListMultipartUploadsResult>");
    ASSERT_TRUE(begun);
    ASSERT_EQ(begun->size(), 1u);
    EXPECT_EQ(begun->front().id, "u");
    EXPECT_FALSE(
        parse_uploads("<ListMultipartUploadsResult><Upload><Initiated>never</Initiated></Upload>"
                      "</ListMultipartUploadsResult>"));
    EXPECT_EQ(make_completion(std::vector<std::string>{"\"a\"", "b<"}),
              "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>\"a\"</ETag></Part>"
              "<Part><PartNumber>2</PartNumber><ETag>b&lt;</ETag></Part></CompleteMultipartUpload>");
}

TEST(s3_answers, removals)
{
    const auto kept = parse_removals(
        "<DeleteResult><Error><Key>k</Key><Code>AccessDenied</Code>"
        "<Message>m</Message></Error></DeleteResult>");
    ASSERT_TRUE(kept);
    ASSERT_EQ(kept->size(), 1u);
    EXPECT_EQ(kept->front().key, "k");
    EXPECT_EQ(kept->front().code, "AccessDenied");
    EXPECT_TRUE(parse_removals("<DeleteResult/>"));
    EXPECT_FALSE(parse_removals("<Deleted/>"));
    EXPECT_EQ(make_removal(std::vector<std::string>{"a&b"}),
              "<Delete><Quiet>true</Quiet><Object><Key>a&amp;b</Key></Object></Delete>");
}

}  // namespace
}  // namespace restante::s3
