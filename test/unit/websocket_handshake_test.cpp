#include "http/websocket/websocket_handshake.hpp"

#include <boost/beast/http/field.hpp>
#include <gtest/gtest.h>

namespace restante {
namespace {

namespace http = boost::beast::http;

request_header good_handshake()
{
    request_header head;
    head.method(http::verb::get);
    head.target("/ws");
    head.version(11);
    head.set(http::field::connection, "keep-alive, Upgrade");
    head.set(http::field::upgrade, "WebSocket");
    head.set(http::field::sec_websocket_version, "13");
    head.set(http::field::sec_websocket_key, "dGhlIHNhbXBsZSBub25jZQ==");
    return head;
}

bool is_unusable(const protocol_offer& offer)
{
    return offer.has_token && offer.token.empty();
}

TEST(websocket_handshake, a_good_one)
{
    EXPECT_EQ(refuse_handshake(good_handshake()), std::nullopt);
}

TEST(websocket_handshake, one_that_asks_for_something_else)
{
    const auto with = [](http::field name, const char* value) {
        auto head = good_handshake();
        head.set(name, value);
        return refuse_handshake(head);
    };
    EXPECT_EQ(with(http::field::connection, "keep-alive"), errc::upgrade_required);
    EXPECT_EQ(with(http::field::upgrade, "h2c"), errc::upgrade_required);
    EXPECT_EQ(with(http::field::sec_websocket_version, "8"), errc::upgrade_required);
    EXPECT_EQ(with(http::field::sec_websocket_key, ""), errc::bad_request);
    EXPECT_EQ(with(http::field::sec_websocket_key, "dGhlIHNhbXBsZSBub25jZQ="), errc::bad_request);
    EXPECT_EQ(with(http::field::sec_websocket_key, "dGhlIHNhbXBsZSBub25jZQA="), errc::bad_request);
    EXPECT_EQ(with(http::field::sec_websocket_key, "!!!!IHNhbXBsZSBub25jZQ=="), errc::bad_request);
    auto old = good_handshake();
    old.version(10);
    EXPECT_EQ(refuse_handshake(old), errc::upgrade_required);
    auto twice = good_handshake();
    twice.insert(http::field::sec_websocket_key, "dGhlIHNhbXBsZSBub25jZQ==");
    EXPECT_EQ(refuse_handshake(twice), errc::bad_request);
}

TEST(websocket_handshake, offers)
{
    auto head = good_handshake();
    EXPECT_EQ(read_protocol_offer(head).format, "");
    EXPECT_FALSE(read_protocol_offer(head).has_token);

    head.insert(http::field::sec_websocket_protocol, "chat, restante.v1");
    head.insert(http::field::sec_websocket_protocol, "bearer.abc-_9");
    const auto offer = read_protocol_offer(head);
    EXPECT_EQ(offer.format, "restante.v1");
    EXPECT_TRUE(offer.has_token);
    EXPECT_EQ(offer.token, "abc-_9");

    head.insert(http::field::sec_websocket_protocol, "bearer.second");
    EXPECT_TRUE(is_unusable(read_protocol_offer(head)));
    head.set(http::field::sec_websocket_protocol, "bearer.");
    EXPECT_TRUE(is_unusable(read_protocol_offer(head)));
    head.set(http::field::sec_websocket_protocol, "bearer." + std::string(513, 'a'));
    EXPECT_TRUE(is_unusable(read_protocol_offer(head)));
}

TEST(websocket_handshake, canvases_offer_their_token_in_hex)
{
    const auto offered = [](const std::string& protocols) {
        auto head = good_handshake();
        head.insert(http::field::sec_websocket_protocol, protocols);
        return read_protocol_offer(head);
    };
    for (const auto* both :
         {"molecule-auth.61622d5F39, molecule-ws", "molecule-ws,molecule-auth.61622D5f39"}) {
        const auto offer = offered(both);
        EXPECT_EQ(offer.format, "molecule-ws") << both;
        EXPECT_EQ(offer.token, "ab-_9") << both;
    }
    EXPECT_EQ(offered("molecule-ws, restante.v1").format, "molecule-ws") << "the first is echoed";
    EXPECT_EQ(offered("restante.v1, molecule-ws").format, "restante.v1");
    for (const std::string& broken :
         {std::string("molecule-auth."), std::string("molecule-auth.6"), std::string("molecule-auth.6g"),
          std::string("molecule-auth.61, molecule-auth.61"), std::string("molecule-auth.61, bearer.a"),
          std::string("molecule-auth.00"), std::string("molecule-auth.0d0a"),
          std::string("molecule-auth.c3a4"), "molecule-auth." + std::string(8192, '6')})
        EXPECT_TRUE(is_unusable(offered(broken))) << broken.substr(0, 60);
}

}  // namespace
}  // namespace restante
