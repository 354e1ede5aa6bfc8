#include "server/messages/a2a_message.hpp"

#include "http/message/json_reader.hpp"

#include <gtest/gtest.h>

namespace restante {
namespace {

const uuid target = *parse_uuid("0b6c1f52-7a44-4c3a-9a86-2f9de0f8f001");
const uuid made = *parse_uuid("11111111-2222-4333-8444-555555555555");

uuid make_known_id()
{
    return made;
}

std::string stored(std::string_view body, bool from_canvas)
{
    const auto message = normalise_message(body, {target, from_canvas}, make_known_id);
    return message ? message->body : "refused: " + message.error().sentence.value_or("");
}

// N is the id that is made where one is missing.
std::string expected(std::string text)
{
    for (auto at = text.find("<N>"); at != std::string::npos; at = text.find("<N>"))
        text.replace(at, 3, to_string(made));
    for (auto at = text.find("<T>"); at != std::string::npos; at = text.find("<T>"))
        text.replace(at, 3, to_string(target));
    return text;
}

TEST(a2a_message, what_is_missing_is_completed)
{
    const struct {
        const char* sent;
        const char* kept;
    } table[] = {
        // Without jsonrpc the envelope is made, and other keys are lost.
        {R"({"method":"message/send","params":{"x":1.50},"id":7,"other":true})",
         R"({"jsonrpc":"2.0","id":"<N>","method":"message/send","params":{"x":1.50}})"},
        {R"({"method":"m"})", R"({"jsonrpc":"2.0","id":"<N>","method":"m"})"},
        {R"({"params":[1],"method":"\u006d"})",
         R"({"jsonrpc":"2.0","id":"<N>","method":"\u006d","params":[1]})"},
        // With it, everything else stays as it was written.
        {R"({ "jsonrpc" : "1.0", "id" : null, "x" : 1e400, "method" : "m", "params" : null })",
         R"({"jsonrpc":"1.0","id":null,"x":1e400,"method":"m","params":null})"},
        {R"({"jsonrpc":"2.0","method":"m","params":{"message":"words","metadata":7}})",
         R"({"jsonrpc":"2.0","method":"m","params":{"message":"words","metadata":7}})"},
        // messageId and role, where they are missing; what is there is not judged.
        {R"({"jsonrpc":"2.0","method":"m","params":{"message":{"parts":[]}}})",
         R"({"jsonrpc":"2.0","method":"m","params":{"message":{"parts":[],"messageId":"<N>","role":"user"}}})"},
        {R"({"jsonrpc":"2.0","method":"m","params":{"message":{"messageId":"a","role":"agent","parts":null}}})",
         R"({"jsonrpc":"2.0","method":"m","params":{"message":{"messageId":"a","role":"agent","parts":null}}})"},
        {R"({"jsonrpc":"2.0","method":"m","params":{"message":{"messageId":null,"role":"","parts":[]}}})",
         R"({"jsonrpc":"2.0","method":"m","params":{"message":{"messageId":null,"role":"","parts":[]}}})"},
        // content instead of parts.
        {R"({"jsonrpc":"2.0","method":"m","params":{"message":{"messageId":"a","role":"user","content":"\u0068i"}}})",
         R"({"jsonrpc":"2.0","method":"m","params":{"message":{"messageId":"a","role":"user",)"
         R"("parts":[{"kind":"text","text":"\u0068i"}]}}})"},
        {R"({"jsonrpc":"2.0","method":"m","params":{"message":{"content":[{"type":"text","text":"hi"}],"messageId":"a","role":"u"}}})",
         R"({"jsonrpc":"2.0","method":"m","params":{"message":{"parts":[{"kind":"text","text":"hi"}],"messageId":"a","role":"u"}}})"},
        {R"({"jsonrpc":"2.0","method":"m","params":{"message":{"content":7,"parts":[],"messageId":"a","role":"u"}}})",
         R"({"jsonrpc":"2.0","method":"m","params":{"message":{"content":7,"parts":[],"messageId":"a","role":"u"}}})"},
        // type becomes kind, where there is no kind.
        {R"({"jsonrpc":"2.0","method":"m","params":{"message":{"messageId":"a","role":"u","parts":[)"
         R"({"text":"a","type":"text"},{"type":"x","kind":"text"},{"text":"b"},7,null,[]]}}})",
         R"({"jsonrpc":"2.0","method":"m","params":{"message":{"messageId":"a","role":"u","parts":[)"
         R"({"text":"a","kind":"text"},{"type":"x","kind":"text"},{"text":"b"},7,null,[]]}}})"},
        // A2A 1.0: parts have no kind, and stay without.
        {R"({"jsonrpc":"2.0","id":"1","method":"SendMessage","params":{"message":{"messageId":"a","role":"ROLE_USER","parts":[)"
         R"({"text":"hi"},{"raw":"aGk=","filename":"h","mediaType":"text/plain"},{"url":"u"},{"data":{"a":1.0}}]},"configuration":{"returnImmediately":true}}})",
         R"({"jsonrpc":"2.0","id":"1","method":"SendMessage","params":{"message":{"messageId":"a","role":"ROLE_USER","parts":[)"
         R"({"text":"hi"},{"raw":"aGk=","filename":"h","mediaType":"text/plain"},{"url":"u"},{"data":{"a":1.0}}]},"configuration":{"returnImmediately":true}}})"},
    };
    for (const auto& [sent, kept] : table)
        EXPECT_EQ(stored(sent, false), expected(kept)) << sent;
}

TEST(a2a_message, from_the_canvas_it_says_so)
{
    const struct {
        const char* sent;
        const char* kept;
    } table[] = {
        {R"({"jsonrpc":"2.0","method":"m","params":{}})",
         R"({"jsonrpc":"2.0","method":"m","params":{"metadata":{"source":"canvas_user","user_identity_status":"UNAUTHENTICATED"}}})"},
        {R"({"jsonrpc":"2.0","method":"m","params":{"metadata":{"a":1,"source":"system","user_identity_status":"ADMIN"},"b":2}})",
         R"({"jsonrpc":"2.0","method":"m","params":{"metadata":{"a":1,"source":"canvas_user","user_identity_status":"UNAUTHENTICATED"},"b":2}})"},
        {R"({"jsonrpc":"2.0","method":"m","params":{"metadata":"words"}})",
         R"({"jsonrpc":"2.0","method":"m","params":{"metadata":{"source":"canvas_user","user_identity_status":"UNAUTHENTICATED"}}})"},
        {R"({"jsonrpc":"2.0","method":"m","params":[]})", R"({"jsonrpc":"2.0","method":"m","params":[]})"},
    };
    for (const auto& [sent, kept] : table)
        EXPECT_EQ(stored(sent, true), expected(kept)) << sent;

    const auto context_of = [](const std::string& member) {
        const auto body = stored(
            R"({"jsonrpc":"2.0","method":"m","params":{"message":{"messageId":"a","role":"u","parts":[])" +
                member + "}}}",
            true);
        const auto kept = parse_json(body).value();
        const auto* found = kept.at("params").at("message").as_object().if_contains("contextId");
        return found && found->is_string() ? std::string(found->as_string()) : "none";
    };
    const auto own = "canvas-" + to_string(target);
    EXPECT_EQ(context_of(""), own);
    EXPECT_EQ(context_of(R"(,"contextId":"")"), own);
    EXPECT_EQ(context_of(R"(,"contextId":" \n")"), own);
    EXPECT_EQ(context_of(R"(,"contextId":null)"), own);
    EXPECT_EQ(context_of(R"(,"contextId":"c")"), "c");
    EXPECT_EQ(context_of(R"(,"contextId":7)"), "none") << "not ours to judge";
}

TEST(a2a_message, the_method_and_the_senders_own_id_are_found)
{
    const auto read = [](std::string_view body) { return *normalise_message(body, {target, false}); };
    const auto with_id = [&](const std::string& id) {
        return read(R"({"method":"a\u002fb","params":{"message":{"parts":[],"messageId":)" + id + "}}}");
    };
    EXPECT_EQ(with_id("\"m\"").method, "a/b");
    EXPECT_EQ(with_id(R"("\u006d")").message_id, "m");
    EXPECT_EQ(with_id("\"\"").message_id, std::nullopt);
    EXPECT_EQ(with_id("7").message_id, std::nullopt);
    EXPECT_EQ(read(R"({"method":"m","params":{"message":{"parts":[]}}})").message_id, std::nullopt)
        << "one that we make identifies nothing";
}

TEST(a2a_message, what_is_no_message_is_refused)
{
    const auto refused = [](const std::string& body) {
        return normalise_message(body, {target, true}).error();
    };
    std::string deep = R"({"method":"m","params":)";
    for (int i = 0; i < 32; ++i)
        deep += "[";
    for (const auto& body : {std::string(), std::string("null"), std::string("[]"), std::string("\"text\""),
                             std::string(R"({"method":"m")"), std::string(R"({"method":"m","method":"n"})"),
                             std::string(R"({"method":"m","params":{"a":{"b":1,"\u0062":2}}})"),
                             std::string(R"({"method":"\ud800"})"), std::string("{\"method\":\"\xff\"}"),
                             std::string(R"({"method":"m"} {})"), deep + std::string(32, ']') + "}"}) {
        EXPECT_EQ(refused(body).code, errc::malformed_json) << body;
        EXPECT_EQ(refused(body).sentence, "invalid JSON") << body;
    }
    for (const auto& body :
         {std::string("{}"), std::string(R"({"method":null})"), std::string(R"({"method":""})"),
          std::string(R"({"method":"a\u0000"})"), R"({"method":")" + std::string(1025, 'm') + "\"}"})
        EXPECT_EQ(refused(body).code, errc::bad_request) << body;

    const auto neither = refused(R"({"method":"m","params":{"message":{"role":"user"}}})");
    EXPECT_EQ(neither.code, errc::bad_request);
    EXPECT_NE(neither.sentence->find("parts"), std::string::npos);
    EXPECT_NE(neither.sentence->find("content"), std::string::npos);
    EXPECT_TRUE(neither.fields.contains("hint"));
    for (const auto* content : {"7", "null", "{}", "true"})
        EXPECT_EQ(
            refused(R"({"method":"m","params":{"message":{"content":)" + std::string(content) + "}}}").code,
            errc::bad_request)
            << content;
}

// A tree of this would take several hundred megabytes.
TEST(a2a_message, millions_of_values_are_read_without_a_tree)
{
    std::string body = R"({"method":"m","params":{"message":{"parts":[)";
    while (body.size() < (8u << 20))
        body += "1,{},";
    body += "0]}}}";
    const auto message = normalise_message(body, {target, true});
    ASSERT_TRUE(message);
    EXPECT_GT(message->body.size(), body.size());
}

TEST(a2a_message, checking_accepts_what_parsing_accepts)
{
    for (const auto* text : {"{}", R"({"a":{"b":1},"b":{"b":2}})", R"([{"a":1},{"a":2}])", R"({"a":1,"a":2})",
                             R"({"a":[{"b":1,"c":2,"b":3}]})", R"({"ab":1,"a\u0062":2})", "", "1e5", "tru",
                             "[1,]", "\xef\xbb\xbf{}", R"({"a":"\ud83d\ude00"})", R"({"a":"\ude00"})"})
        EXPECT_EQ(check_json(text).has_value(), parse_json(text).has_value()) << text;
}

}  // namespace
}  // namespace restante
