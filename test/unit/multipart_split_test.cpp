#include "test/support/form_reading.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace restante::multipart {
namespace {

using namespace std::string_literals;

const std::string disposition = "Content-Disposition: form-data; name=\"files\"; filename=\"a\"\r\n\r\n";

std::string framed(const std::string& content)
{
    return "--bound\r\n" + disposition + content + "\r\n--bound--\r\n";
}

// Bodies that are hard to parse, valid and broken.
std::vector<std::string> corpus()
{
    std::vector<std::string> bodies{
        framed("plain"),
        framed(""),
        framed("\r\n"),
        framed("\r\n--boun\r\n--boun\r\n--"),
        framed("\r\n--boundx\r\n--bound-x\r\n--bound-"),
        framed("\r\r\r\n\n\r\n\r\n--\r\n--b"),
        "--bound\r\n" + disposition + "--bound\r\n" + disposition + "--boun\r\n--bound--",
        "preamble\r\n--boun\r\n--bound \t \r\n" + disposition + "one\r\n--bound\t\r\n" + disposition +
            "two\r\n--bound-- \r\nepilogue",
        "\r\n--bound\r\nX: a\nb\r\nContent-Type: text/\r\x01\r\n" + disposition +
            std::string("\0\xFF\r\n--bound", 11) + "\r\n--bound--",

        framed("x").substr(0, 70),
        "--bound\r\n\r\nx\r\n--bound--",
        "--bound\r\n" + disposition + "x\r\n--bound y\r\n--bound--",
        "--bound\r\n" + disposition + "x\r\n--bound--\rx",
        "--bound\r\n folded: 1\r\n" + disposition + "x\r\n--bound--",
        "--bound\r\n" + disposition + "x\r\n--bound\r\nno colon\r\n\r\n\r\n--bound--",
    };
    std::string many;
    for (int i = 0; i < 5; ++i)
        many += "--bound\r\n" + disposition + std::string(static_cast<std::size_t>(i), '\r') + "\r\n";
    bodies.push_back(many + "--bound--");
    return bodies;
}

TEST(multipart_split, in_two_at_every_byte)
{
    const auto separator = make_boundary("bound");
    for (const auto& body : corpus()) {
        const auto whole = read_form(body, separator);
        for (std::size_t n = 0; n <= body.size(); ++n)
            ASSERT_EQ(read_form(body, separator, {n}), whole) << body << "\nsplit at " << n;
    }
}

TEST(multipart_split, in_three_at_every_two_bytes)
{
    const auto separator = make_boundary("bound");
    const auto body = framed("\r\n--bound-\r\n--boun");
    const auto whole = read_form(body, separator);
    EXPECT_TRUE(whole.accepted);
    for (std::size_t n = 0; n <= body.size(); ++n)
        for (std::size_t m = 0; n + m <= body.size(); ++m)
            ASSERT_EQ(read_form(body, separator, {n, m}), whole) << n << " and " << m;
}

TEST(multipart_split, into_single_bytes)
{
    const auto separator = make_boundary("bound");
    for (const auto& body : corpus())
        EXPECT_EQ(read_form(body, separator, std::vector<std::size_t>(body.size(), 1)),
                  read_form(body, separator))
            << body;
}

TEST(multipart_split, with_limits_that_bite)
{
    const auto separator = make_boundary("bound");
    const auto body = corpus()[7];
    for (std::size_t budget = 0; budget <= body.size(); ++budget) {
        const parser_limits limits{
            .parts = 1 + budget % 3, .header_bytes = 60 + budget % 8, .framing_bytes = budget};
        const auto whole = read_form(body, separator, {}, limits);
        for (std::size_t n = 0; n <= body.size(); ++n)
            ASSERT_EQ(read_form(body, separator, {n}, limits), whole) << budget << ", split at " << n;
    }
}

// Content and splits from a fixed seed; the content is full of fragments of the delimiter.
TEST(multipart_split, random_contents_in_random_pieces)
{
    std::mt19937 random(20'240'517);
    const auto up_to = [&random](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n)(random);
    };
    const auto separator = make_boundary("bound");
    const std::string pieces[] = {
        "\r", "\n", "-", "--", "b", "\r\n--", "\r\n--bound", "bound", "x", "\r\n--boundbound", "\0"s};

    for (int round = 0; round < 400; ++round) {
        std::vector<std::string> contents;
        std::string body;
        for (auto parts = 1 + up_to(4); parts > 0; --parts) {
            std::string content = "x";
            for (std::size_t n = up_to(40); n > 0; --n)
                content += pieces[up_to(std::size(pieces) - 1)];
            content += "x";
            // The parser rightly treats any of these as a delimiter.
            for (const auto& end : {"\r\n--bound\r"s, "\r\n--bound--"s})
                for (auto at = content.find(end); at != std::string::npos; at = content.find(end))
                    content.insert(at + 3, "x");
            body += "--bound\r\n" + disposition + content + "\r\n";
            contents.push_back(std::move(content));
        }
        body += "--bound--\r\n";

        std::vector<std::size_t> lengths;
        for (std::size_t n = up_to(60); n > 0; --n)
            lengths.push_back(up_to(20));
        const auto form = read_form(body, separator, lengths);
        ASSERT_TRUE(form.accepted) << body;
        ASSERT_EQ(form.parts.size(), contents.size());
        for (std::size_t i = 0; i < contents.size(); ++i)
            ASSERT_EQ(form.parts[i].content, contents[i]);
    }
}

}  // namespace
}  // namespace restante::multipart
