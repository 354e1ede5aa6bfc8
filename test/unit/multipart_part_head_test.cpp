#include "http/multipart/content_disposition.hpp"
#include "http/multipart/part_head.hpp"

#include <gtest/gtest.h>

#include <string>

namespace restante::multipart {
namespace {

using namespace std::string_literals;

std::string filename_of(const std::string& parameter)
{
    const auto parsed = parse_content_disposition("form-data; name=\"files\"; " + parameter);
    if (!parsed)
        return "<" + parsed.error().message() + ">";
    return parsed->filename.value_or("<none>");
}

const std::string malformed = "<malformed multipart body>";

TEST(content_disposition, names)
{
    const auto both = parse_content_disposition("Form-Data ;NAME=files; FileName=\"a.txt\"");
    ASSERT_TRUE(both);
    EXPECT_EQ(both->name, "files");
    EXPECT_EQ(both->filename, "a.txt");

    const auto reversed = parse_content_disposition("form-data; filename=a.txt; name=\"f;i=l\\\"es\"");
    ASSERT_TRUE(reversed);
    EXPECT_EQ(reversed->name, "f;i=l\"es");
    EXPECT_EQ(reversed->filename, "a.txt");

    const auto field = parse_content_disposition("form-data; name=\"\"");
    ASSERT_TRUE(field);
    EXPECT_EQ(field->name, "");
    EXPECT_FALSE(field->filename);
}

TEST(content_disposition, filenames)
{
    EXPECT_EQ(filename_of("filename=\"\""), "");
    EXPECT_EQ(filename_of("x=y"), "<none>");
    EXPECT_EQ(filename_of("filename=\"my file;1.txt\""), "my file;1.txt");
    EXPECT_EQ(filename_of("filename=\"a\\\"b\\\\c.txt\""), "a\"b\\c.txt");
    EXPECT_EQ(filename_of("filename=\"C:\\x.txt\""), "C:\\x.txt");
    EXPECT_EQ(filename_of("filename=\"C:\\new\\table.txt\""), "C:\\new\\table.txt");
    EXPECT_EQ(filename_of("filename=\"a%22b.txt\""), "a%22b.txt");
    EXPECT_EQ(filename_of("filename=\"../../etc/passwd\""), "../../etc/passwd");
    EXPECT_EQ(filename_of("filename=\"caf\xC3\xA9 \xF0\x9F\x98\x80.txt\""),
              "caf\xC3\xA9 \xF0\x9F\x98\x80.txt");
    EXPECT_EQ(filename_of("filename=\"a\xFF\xC0\x80.txt\""), "a\xFF\xC0\x80.txt");
    EXPECT_EQ(filename_of("filename=\"tab\there\""), "tab\there");
    EXPECT_EQ(filename_of("filename=caf\xC3\xA9.txt"), "caf\xC3\xA9.txt");
}

TEST(content_disposition, the_extended_filename_is_passed_over)
{
    EXPECT_EQ(filename_of("filename*=UTF-8''evil.sh"), "<none>");
    EXPECT_EQ(filename_of("filename*=UTF-8''evil.sh; filename=\"a.txt\""), "a.txt");
}

TEST(content_disposition, filename_of_at_most_255_bytes)
{
    EXPECT_EQ(filename_of("filename=\"" + std::string(255, 'a') + "\""), std::string(255, 'a'));
    EXPECT_EQ(filename_of("filename=\"" + std::string(256, 'a') + "\""), malformed);

    // The limit applies to the name without its escapes.
    std::string escaped;
    for (int i = 0; i < 255; ++i)
        escaped += "\\\"";
    EXPECT_EQ(filename_of("filename=\"" + escaped + "\""), std::string(255, '"'));
}

TEST(content_disposition, malformed_parameters)
{
    for (const auto& parameter :
         {"filename=\"a"s, "filename=\"a\\\""s, "filename="s, "filename"s, "filename=\"a\" b"s,
          "filename=a b"s, "filename=\"a\"; filename=\"b\""s, "filename=\"a\"b\""s, "name=again"s,
          "filename =a"s, "filename=\"a\rb\""s, "filename=\"a\nb\""s, "filename=\"a\r\nb\""s,
          "filename=\"a\0b\""s, "x=\"\0\""s, "f\xC3\xA9=a"s})
        EXPECT_EQ(filename_of(parameter), malformed) << parameter;
}

TEST(content_disposition, malformed_values)
{
    for (const auto& value : {""s, "form-data"s, "form-data; filename=\"a\""s, "attachment; name=\"files\""s,
                              "file; name=\"files\""s, "form-data name=\"files\""s, "; name=\"files\""s})
        EXPECT_FALSE(parse_content_disposition(value)) << value;
}

const std::string disposition = "Content-Disposition: form-data; name=\"files\"; filename=\"a.txt\"\r\n";

TEST(part_head, tells_name_filename_and_type)
{
    const auto head =
        parse_part_head("X-Other: 1\r\ncontent-TYPE:\t text/plain; charset=x \r\n" + disposition);
    ASSERT_TRUE(head);
    EXPECT_EQ(head->name, "files");
    EXPECT_EQ(head->filename, "a.txt");
    EXPECT_EQ(head->content_type, "text/plain; charset=x");
    EXPECT_EQ(parse_part_head(disposition)->content_type, "");
}

TEST(part_head, strange_bytes_in_the_type_survive_to_the_mimetype_rule)
{
    for (const auto& type : {"text/\xFF"s, "text/h\rtml"s, "text/h\ntml"s, "te\0xt/"s, "type/"s, "\x01"s}) {
        const auto head = parse_part_head(disposition + "Content-Type: " + type + "\r\n");
        ASSERT_TRUE(head) << type;
        EXPECT_EQ(head->content_type, type);
    }
}

TEST(part_head, encodings_that_leave_the_bytes_alone)
{
    for (const auto& encoding : {"7bit"s, "8BIT"s, "binary"s, " Binary "s})
        EXPECT_TRUE(parse_part_head(disposition + "Content-Transfer-Encoding: " + encoding + "\r\n"))
            << encoding;
    for (const auto& encoding : {"base64"s, "quoted-printable"s, "gzip"s, ""s, "binary, base64"s})
        EXPECT_FALSE(parse_part_head(disposition + "Content-Transfer-Encoding: " + encoding + "\r\n"))
            << encoding;
}

TEST(part_head, malformed)
{
    for (const auto& lines :
         {""s, "X-Other: 1\r\n"s, disposition + disposition, "Content-Disposition\r\n"s,
          "no colon\r\n" + disposition, " folded: 1\r\n" + disposition, disposition + " filename=b\r\n",
          disposition + "\tx: y\r\n", "Content-Disposition : form-data; name=a\r\n"s,
          ": value\r\n" + disposition, "X\xFFY: 1\r\n" + disposition,
          disposition + "Content-Type: multipart/mixed; boundary=x\r\n",
          disposition + "Content-Type: MultiPart/form-data\r\n",
          disposition + "Content-Type: a/b\r\nContent-Type: a/b\r\n", disposition + "X-Cut: 1",
          "Content-Disposition: form-data; name=\"files\"; filename=\"a\r\nb\"\r\n"s}) {
        const auto head = parse_part_head(lines);
        ASSERT_FALSE(head) << lines;
        EXPECT_EQ(head.error(), errc::malformed_multipart);
    }
}

}  // namespace
}  // namespace restante::multipart
