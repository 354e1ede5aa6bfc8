#pragma once

#include "core/error.hpp"

#include <boost/beast/http/message.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace restante {

using request_header = boost::beast::http::request_header<>;

enum class body_kind { none, length, chunked };

// What the head of a request means, decided once, before any of the body is read.
struct gate_verdict {
    std::optional<errc> refusal;
    bool close = false;  // the connection ends with the answer: refused, or the client does not keep it alive
    body_kind body = body_kind::none;
    std::uint64_t content_length = 0;  // with body_kind::length; may be 0
    bool expects_continue = false;
};

// Refuses every head that RFC 9112 forbids or that two parsers could read differently. Call it before the
// body is read: Beast merges trailers into the same container later, and a trailer must not decide anything.
//
// Beast 1.81 and head_scanner have already refused: a method that is no token, control characters in the
// target, a version other than 1.0 and 1.1, names that are no token (so also `Content-Length : 5`), control
// characters in values, bare CR and LF, folded lines, a Content-Length that is no number or contradicts
// another one, chunked followed by Content-Length, Connection that is no list.
//
// Beast accepts, and this refuses: Transfer-Encoding that is not exactly `chunked` (Beast reads `gzip`
// as "no body" and the body as the next request), twice, with Content-Length, on HTTP/1.0; `Content-Length:
// 5, 5` and 20 digits; a missing, repeated or malformed Host; a body on GET, HEAD or DELETE; unknown
// expectations; names that other software takes for framing or authentication (`Content_Length`); several
// Authorization fields; a target that is neither a path, nor an absolute URL for the same Host, nor `*` with
// OPTIONS.
//
// Refusals: bad_request, transfer_coding_not_implemented, expectation_failed, http_version_not_supported,
// uri_too_long, headers_too_large. Never throws.
gate_verdict inspect_head(const request_header& head) noexcept;

// What to answer when Beast's parser failed, in the head or in the body. Errors of the transport and a
// message cut short give client_gone; an error of ours, set in a callback of the parser, comes back as it is.
// Behind a head_scanner, bad_version can only be a version that we don't speak.
errc parser_error_to_errc(const error_code& ec) noexcept;

// The extensions of one chunk, as Beast passes them to on_chunk_header. Beast accepts any length, and line
// feeds in quoted strings, where other parsers end the line.
bool is_acceptable_chunk_extension(std::string_view extensions) noexcept;

}  // namespace restante
