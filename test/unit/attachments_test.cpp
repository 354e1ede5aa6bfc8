#include "server/messages/attachments.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

using files = std::vector<attachment>;

TEST(attachments, an_upload_manifest_is_one_file_of_its_types_family)
{
    EXPECT_EQ(
        attachments_of(
            R"({"file_id":"f","name":"a.png","mimeType":"image/png","size":3,"uri":"platform-pending:w/f"})"),
        (files{{"image", "platform-pending:w/f", "image/png", "a.png", 3}}));
    EXPECT_EQ(attachments_of(R"({"uri":"u","mimeType":"audio/ogg"})"),
              (files{{"audio", "u", "audio/ogg", {}}}));
    EXPECT_EQ(attachments_of(R"({"uri":"u","mimeType":"video/mp4"})"),
              (files{{"video", "u", "video/mp4", {}}}));
    EXPECT_EQ(attachments_of(R"({"uri":"u","mimeType":"application/pdf","name":"x"})"),
              (files{{"file", "u", "application/pdf", "x"}}));
    EXPECT_EQ(attachments_of(R"({"uri":"u","mimeType":""})"), (files{{"file", "u", {}, {}}}));
    EXPECT_EQ(attachments_of(R"({"uri":"u","mimeType":"file/x"})"), (files{{"file", "u", "file/x", {}}}));
}

TEST(attachments, message_parts_of_the_four_kinds_in_their_order)
{
    const auto* body = R"({"jsonrpc":"2.0","method":"message/send","params":{"message":{"parts":[
        {"kind":"text","text":"look","uri":"not a file"},
        {"kind":"file","file":{"uri":"platform-pending:w/1","name":"a.txt","mimeType":"text/plain"}},
        {"kind":"image","uri":"platform-pending:w/2","name":"b.png","mimeType":"image/png"},
        {"kind":"audio","file":{"uri":"u3"}},
        {"kind":"video","file":"u4","uri":"u4"},
        {"kind":"file","file":{"bytes":"aGk="}},
        {"kind":"data","data":{"uri":"no"}}]}}})";
    EXPECT_EQ(attachments_of(body), (files{{"file", "platform-pending:w/1", "text/plain", "a.txt"},
                                           {"image", "platform-pending:w/2", "image/png", "b.png"},
                                           {"audio", "u3", {}, {}},
                                           {"video", "u4", {}, {}}}));
}

// One shape, whichever way the part says it.
TEST(attachments, every_form_of_every_version)
{
    const struct {
        const char* part;
        attachment read;
    } table[] = {
        {R"({"kind":"file","file":{"uri":"u","name":"n","mimeType":"image/png"}})",
         {"file", "u", "image/png", "n"}},
        {R"({"kind":"file","file":{"uri":"u","name":"n","mime_type":"a/b"}})", {"file", "u", "a/b", "n"}},
        {R"({"kind":"file","file":{"uri":"u","mimeType":"","mime_type":"a/b"}})", {"file", "u", "a/b", {}}},
        {R"({"kind":"file","uri":"u","name":"n","mimeType":"a/b","size":7})", {"file", "u", "a/b", "n", 7}},
        {R"({"kind":"image","uri":"u"})", {"image", "u", {}, {}}},
        {R"({"kind":"audio","uri":"u","mime_type":"audio/ogg"})", {"audio", "u", "audio/ogg", {}}},
        {R"({"kind":"video","uri":"u","name":""})", {"video", "u", {}, {}}},
        {R"({"url":"u","filename":"n","mediaType":"image/png"})", {"image", "u", "image/png", "n"}},
        {R"({"url":"u","mediaType":"application/pdf"})", {"file", "u", "application/pdf", {}}},
        {R"({"url":"u"})", {"file", "u", {}, {}}},
        {R"({"\u0075rl":"\u0075","filename":"\u00e4"})", {"file", "u", {}, "\u00e4"}},
    };
    for (const auto& [part, read] : table) {
        EXPECT_EQ(attachments_in("[" + std::string(part) + "]"), files{read}) << part;
        EXPECT_EQ(attachments_of(R"({"url":0,"params":{"message":{"parts":[)" + std::string(part) + "]}}}"),
                  files{read})
            << part;
    }
    for (const auto* part :
         {R"({"raw":"aGk=","filename":"n","mediaType":"a/b"})", R"({"text":"u"})", R"({"data":{"url":"u"}})",
          R"({"kind":"text","url":"u"})", R"({"kind":"file","file":{"bytes":"aGk=","name":"n"}})",
          R"({"url":""})", R"({"url":7})", R"({"kind":7,"url":"u"})", R"({"kind":"file","url":"u"})", "null",
          "7", R"("url")"})
        EXPECT_EQ(attachments_in("[" + std::string(part) + "]"), files{}) << part;
}

TEST(attachments, of_hundreds_of_thousands_only_the_first_count)
{
    std::string parts = "[";
    for (int i = 0; i < 100'000; ++i)
        parts += R"({"url":"u"},)";
    parts.back() = ']';
    EXPECT_EQ(attachments_in(parts).size(), most_attachments);
}

TEST(attachments, anything_else_names_no_file)
{
    for (const auto* body :
         {"", "null", "[]", "7", R"("uri")", R"({"name":"a"})", R"({"uri":7})", R"({"uri":""})", R"({"uri")",
          R"({"params":{"message":{"parts":[{"kind":"file"}, 7, null, {"uri":"u"}]}},"x":"uri"})",
          R"({"params":{"message":{"parts":[{"kind":["file"],"uri":"u"}]}}})", R"([{"uri":"u"}])"})
        EXPECT_EQ(attachments_of(body), files{}) << body;
}

TEST(attachments, parts_that_are_no_list_do_not_hide_a_manifest)
{
    EXPECT_EQ(attachments_of(R"({"params":{"message":{"parts":{}}},"uri":"u"})"),
              (files{{"file", "u", {}, {}}}));
}

TEST(attachments, a_body_too_deep_to_read_names_none)
{
    const std::string deep = std::string(100, '[') + R"({"uri":"u"})" + std::string(100, ']');
    EXPECT_EQ(attachments_of(deep), files{});
}

}  // namespace
}  // namespace restante
