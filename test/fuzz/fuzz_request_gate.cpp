// The bytes of a request head, through the scanner, Beast and the gate. For any input, an accepting verdict
// agrees with the fields that Beast parsed.
#include "http/message/request_target.hpp"
#include "http/routing/routes.hpp"
#include "test/fuzz/require.hpp"
#include "test/support/read_head.hpp"

#include <cstdint>

namespace {

using namespace restante;
namespace http = boost::beast::http;

const route table[] = {
    {http::verb::get, "/healthz", scope::open, body_mode::none, 0, nullptr},
    {http::verb::post, "/workspaces/{id}/chat/uploads", scope::full, body_mode::streamed, 1 << 20, nullptr},
    {http::verb::post, "/workspaces/{id}/pending-uploads/ack", scope::full, body_mode::buffered, 1 << 20,
     nullptr},
    {http::verb::post, "/workspaces/{id}/pending-uploads/{file_id}/ack", scope::full, body_mode::none, 0,
     nullptr},
    {http::verb::delete_, "/workspaces/{id}/tokens/{token_id}", scope::full, body_mode::none, 0, nullptr},
};

void check_agreement(const gate_verdict& verdict, const request_header& head)
{
    const auto lengths = head.count(http::field::content_length);
    const auto codings = head.count(http::field::transfer_encoding);
    require(lengths + codings <= 1);
    require((verdict.body == body_kind::length) == (lengths == 1));
    require((verdict.body == body_kind::chunked) == (codings == 1));
    require(verdict.body == body_kind::length || verdict.content_length == 0);
    require(head.count(http::field::host) == 1 || head.version() == 10);
    require(head.count(http::field::authorization) <= 1);
    require(head.version() == 10 || head.version() == 11);
    require(verdict.body != body_kind::chunked || head.version() == 11);
    require(!verdict.expects_continue || verdict.body != body_kind::none);
    if (head.method() == http::verb::get)
        require(verdict.body != body_kind::chunked && verdict.content_length == 0);
}

// The result does not depend on how a head is split.
void check_pieces(std::string_view bytes)
{
    head_scanner at_once;
    const auto expected = at_once.look(bytes);
    head_scanner in_pieces;
    auto seen = head_scanner::progress::incomplete;
    for (std::size_t n = 1; n <= bytes.size() && seen == head_scanner::progress::incomplete; ++n)
        seen = in_pieces.look(bytes.substr(0, n));
    require(seen == expected);
    require(in_pieces.size() == at_once.size() && in_pieces.refusal() == at_once.refusal());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    check_pieces(bytes);
    const auto read = testing::read_head(bytes);
    if (read.verdict.refusal) {
        require(read.verdict.close);
        return 0;
    }
    check_agreement(read.verdict, read.header);

    const auto target = parse_request_target(read.header.target());
    if (!target)
        return 0;
    const auto match = match_route(table, read.header.method_string(), target->path);
    require(!match.refusal || !match.target);
    return 0;
}
