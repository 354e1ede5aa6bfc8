#include "server/api/inbox/peer_info.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

using files = std::vector<attachment>;

TEST(peer_info, an_upload_manifest_is_one_file_of_its_types_family)
{
    EXPECT_EQ(
        attachments_of(
            R"({"file_id":"f","name":"a.png","mimeType":"image/png","size":3,"uri":"platform-pending:w/f"})"),
        (files{{"image", "platform-pending:w/f", "image/png", "a.png"}}));
    EXPECT_EQ(attachments_of(R"({"uri":"u","mimeType":"audio/ogg"})"),
              (files{{"audio", "u", "audio/ogg", {}}}));
    EXPECT_EQ(attachments_of(R"({"uri":"u","mimeType":"video/mp4"})"),
              (files{{"video", "u", "video/mp4", {}}}));
    EXPECT_EQ(attachments_of(R"({"uri":"u","mimeType":"application/pdf","name":"x"})"),
              (files{{"file", "u", "application/pdf", "x"}}));
    EXPECT_EQ(attachments_of(R"({"uri":"u","mimeType":""})"), (files{{"file", "u", {}, {}}}));
    EXPECT_EQ(attachments_of(R"({"uri":"u","mimeType":"file/x"})"), (files{{"file", "u", "file/x", {}}}));
}

TEST(peer_info, message_parts_of_the_four_kinds_in_their_order)
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

TEST(peer_info, anything_else_names_no_file)
{
    for (const auto* body :
         {"", "null", "[]", "7", R"("uri")", R"({"name":"a"})", R"({"uri":7})", R"({"uri":""})", R"({"uri")",
          R"({"params":{"message":{"parts":[{"kind":"file"}, 7, null, {"uri":"u"}]}},"x":"uri"})",
          R"({"params":{"message":{"parts":[{"kind":["file"],"uri":"u"}]}}})", R"([{"uri":"u"}])"})
        EXPECT_EQ(attachments_of(body), files{}) << body;
}

TEST(peer_info, parts_that_are_no_list_do_not_hide_a_manifest)
{
    EXPECT_EQ(attachments_of(R"({"params":{"message":{"parts":{}}},"uri":"u"})"),
              (files{{"file", "u", {}, {}}}));
}

TEST(peer_info, a_body_too_deep_to_read_names_none)
{
    const std::string deep = std::string(100, '[') + R"({"uri":"u"})" + std::string(100, ']');
    EXPECT_EQ(attachments_of(deep), files{});
}

}  // namespace
}  // namespace restante
