#include "http/multipart/parser.hpp"
#include "test/support/form_reading.hpp"

#include <gtest/gtest.h>

#include <string>

namespace restante::multipart {
namespace {

using namespace std::string_literals;

const std::string file_head =
    "Content-Disposition: form-data; name=\"files\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\n";
const std::string field_head = "Content-Disposition: form-data; name=\"note\"\r\n\r\n";

std::string file_body(const std::string& content)
{
    return "--b\r\n" + file_head + content + "\r\n--b--\r\n";
}

form_reading read(const std::string& body, const parser_limits& limits = {})
{
    return read_form(body, make_boundary("b"), {}, limits);
}

void expect_content(const std::string& content)
{
    const auto form = read(file_body(content));
    EXPECT_TRUE(form.accepted);
    ASSERT_EQ(form.parts.size(), 1u);
    EXPECT_TRUE(form.parts[0].content == content);
}

TEST(multipart_parser, parts_in_order)
{
    const auto form = read("--b\r\n" + file_head + "one\r\n--b\r\n" + field_head + "\r\n--b\r\n" + file_head +
                           "\r\n\r\n--b--");
    EXPECT_TRUE(form.accepted);
    ASSERT_EQ(form.parts.size(), 3u);
    EXPECT_EQ(form.parts[0].head.filename, "a.txt");
    EXPECT_EQ(form.parts[0].head.content_type, "text/plain");
    EXPECT_EQ(form.parts[0].content, "one");
    EXPECT_EQ(form.parts[1].head.name, "note");
    EXPECT_FALSE(form.parts[1].head.filename);
    EXPECT_EQ(form.parts[1].content, "");
    EXPECT_EQ(form.parts[2].content, "\r\n");
    for (const auto& part : form.parts)
        EXPECT_TRUE(part.ended);
}

TEST(multipart_parser, content_of_one_block_is_handed_out_where_it_lies)
{
    const auto body = file_body("line\r\n--line\r\n--bx\r\n--b-x\rend");
    parser from(make_boundary("b"));
    from.feed(body);
    EXPECT_EQ(from.next()->kind, event::type::part_begin);
    const auto data = from.next();
    ASSERT_EQ(data->kind, event::type::data);
    EXPECT_EQ(data->bytes, "line\r\n--line\r\n--bx\r\n--b-x\rend");
    EXPECT_GE(data->bytes.data(), body.data());
    EXPECT_LT(data->bytes.data(), body.data() + body.size());
    EXPECT_EQ(from.next()->kind, event::type::part_end);
    EXPECT_EQ(from.next()->kind, event::type::need_more);
    EXPECT_TRUE(from.finish());
}

TEST(multipart_parser, content_that_resembles_delimiters)
{
    for (const auto& content : {"x--b"s,
                                "x--b--"s,
                                "\n--b\r\n"s,
                                "\r--b--\r"s,
                                "\r\n-b\r\n"s,
                                "\r\n--\r\n"s,
                                "\r\n--bb\r\n"s,
                                "\r\n--b-\r\n"s,
                                "\r\n--b-x"s,
                                "\r\n--B--"s,
                                "\r\r\r\n--"s,
                                "\r\n\r\n"s,
                                "\r\n"s,
                                "\r"s,
                                "\n"s,
                                "-"s,
                                "\r\n--"s,
                                "--"s,
                                "\0\r\n\0"s,
                                "\r\n--a"s,
                                "\r\r\n\r\n--\r\n--c"s})
        expect_content(content);
}

TEST(multipart_parser, a_part_without_content)
{
    expect_content("");
    // RFC 2046: the empty line after the headers may be the CRLF of the delimiter.
    const auto form = read("--b\r\n" + file_head + "--b\r\n" + file_head + "--b--");
    EXPECT_TRUE(form.accepted);
    ASSERT_EQ(form.parts.size(), 2u);
    EXPECT_EQ(form.parts[0].content + form.parts[1].content, "");
}

TEST(multipart_parser, preamble_padding_and_epilogue)
{
    for (const auto& preamble : {""s, "\r\n"s, "This is a form.\r\n"s, "--bb\r\n--\r\n"s, "x--b\r\n"s})
        for (const auto& padding : {""s, " "s, " \t \t"s})
            for (const auto& epilogue : {""s, "\r\n"s, "\r\nbye\r\n--b\r\n--b--"s}) {
                const auto form = read(preamble + "--b" + padding + "\r\n" + file_head + "one\r\n--b--" +
                                       padding + epilogue);
                EXPECT_TRUE(form.accepted) << preamble << padding << epilogue;
                ASSERT_EQ(form.parts.size(), 1u);
                EXPECT_EQ(form.parts[0].content, "one");
            }
}

TEST(multipart_parser, boundaries_of_every_shape)
{
    for (const auto& text :
         {"b"s, "-"s, "--"s, "a b=1"s, "'()+_,-./:=?"s, std::string(70, '-'), std::string(70, 'x')}) {
        const auto content = "--" + text.substr(1) + "\r\n--" + text.substr(1) + "y\r\n-" + text + "\r\n";
        const auto form = read_form("--" + text + "\r\n" + file_head + content + "\r\n--" + text + "--",
                                    make_boundary(text));
        EXPECT_TRUE(form.accepted) << text;
        ASSERT_EQ(form.parts.size(), 1u);
        EXPECT_EQ(form.parts[0].content, content);
    }
}

TEST(multipart_parser, no_parts)
{
    for (const auto& body :
         {""s, "--b--"s, "--b--\r\n"s, "nothing like it"s, "--c\r\n" + file_head + "x\r\n--c--"s, "--b"s,
          "--b\r\n"s, "\n--b\n" + file_head + "\n--b--"s})
        EXPECT_FALSE(read(body).accepted) << body;
}

TEST(multipart_parser, the_closing_delimiter_cut_at_any_byte)
{
    const auto body = "--b\r\n" + file_head + "one\r\n--b--"s;
    EXPECT_TRUE(read(body).accepted);
    for (std::size_t n = 0; n < body.size(); ++n)
        EXPECT_FALSE(read(body.substr(0, n)).accepted) << n;
}

TEST(multipart_parser, broken_delimiter_lines)
{
    const auto start = "--b\r\n" + file_head + "one";
    for (const auto& end :
         {"\r\n--b x\r\n\r\n--b--"s, "\r\n--b\rx\r\n--b--"s, "\r\n--b--x"s, "\r\n--b--\n"s, "\r\n--b--\r"s,
          "\r\n--b--\rx"s, "\r\n--b-- x"s, "\r\n--b---"s, "\r\n--b "s, "\r\n--b \t"s})
        EXPECT_FALSE(read(start + end).accepted) << end;
}

TEST(multipart_parser, broken_headers)
{
    for (const auto& head :
         {"\r\n"s, "X-Other: 1\r\n\r\n"s, " " + file_head, "no colon\r\n" + file_head,
          file_head.substr(0, file_head.size() - 2), "Content-Disposition: form-data\r\n\r\n"s,
          field_head.substr(0, field_head.size() - 2) + field_head,
          "Content-Transfer-Encoding: base64\r\n" + file_head,
          "Content-Disposition: form-data; name=\"files\"; filename=\"a\r\nb\"\r\n\r\n"s,
          "Content-Disposition: form-data; name=\"files\"; filename=\"a\nb\"\r\n\r\n"s,
          "Content-Disposition: form-data; name=\"files\"; filename=\"a\0b\"\r\n\r\n"s,
          "Content-Type: multipart/mixed; boundary=c\r\n" + field_head}) {
        const auto form = read("--b\r\n" + head + "one\r\n--b--");
        EXPECT_FALSE(form.accepted) << head;
        EXPECT_TRUE(form.parts.empty()) << head;
    }
}

TEST(multipart_parser, an_error_stays_and_comes_after_the_parts_before_it)
{
    parser from(make_boundary("b"));
    form_reading form;
    EXPECT_FALSE(read_block(from, "--b\r\n" + field_head + "one\r\n--b\r\n\r\n", form));
    ASSERT_EQ(form.parts.size(), 1u);
    EXPECT_EQ(form.parts[0].content, "one");
    EXPECT_TRUE(form.parts[0].ended);

    const auto good = file_body("x");
    from.feed(good);
    const auto next = from.next();
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error(), errc::malformed_multipart);
    EXPECT_EQ(from.finish().error(), errc::malformed_multipart);
}

}  // namespace
}  // namespace restante::multipart
