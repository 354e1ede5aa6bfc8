#pragma once

#include "http/message/head_scanner.hpp"
#include "http/message/request_gate.hpp"

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

#include <string_view>

namespace restante::testing {

struct read_result {
    gate_verdict verdict;
    request_header header;
};

inline read_result refused_head(errc why)
{
    read_result out;
    out.verdict.refusal = why;
    out.verdict.close = true;
    return out;
}

// Processes the first bytes of a request as a session would, without a session: scanner, then Beast, then the
// gate. An incomplete head is a bad_request here.
inline read_result read_head(std::string_view bytes)
{
    head_scanner scanner;
    switch (scanner.look(bytes)) {
        case head_scanner::progress::incomplete: return refused_head(errc::bad_request);
        case head_scanner::progress::refused: return refused_head(scanner.refusal());
        case head_scanner::progress::complete: break;
    }
    boost::beast::http::request_parser<boost::beast::http::empty_body> parser;
    parser.header_limit(head_scanner::max_head);
    parser.body_limit(boost::none);
    error_code ec;
    parser.put(boost::asio::buffer(bytes.data(), scanner.size()), ec);
    if (ec)
        return refused_head(parser_error_to_errc(ec));
    return {inspect_head(parser.get().base()), parser.get().base()};
}

}  // namespace restante::testing
