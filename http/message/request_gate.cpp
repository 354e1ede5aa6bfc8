#include "http/message/request_gate.hpp"

#include "core/decimal.hpp"
#include "http/message/field_grammar.hpp"
#include "http/message/head_scanner.hpp"
#include "http/message/request_target.hpp"

#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <array>

namespace restante {

namespace http = boost::beast::http;

namespace {

// Every number of 64 bits fits; more digits are leading zeros, which no honest client sends.
constexpr std::size_t longest_length = 19;

// The fields that matter here, and how often each occurs.
struct tally {
    std::size_t fields = 0;
    std::size_t hosts = 0;
    std::size_t lengths = 0;
    std::size_t codings = 0;
    std::size_t authorizations = 0;
    std::size_t content_types = 0;
    std::string_view host;
    std::string_view length;
    std::string_view coding;
    bool has_look_alike = false;
    bool expects_continue = false;
    bool expects_other = false;
    bool says_close = false;
    bool says_keep_alive = false;
};

// CGI and its successors map both `-` and `_` to `_`, so that a proxy before us can take `Content_Length` for
// the real one. Any other character in place of the hyphen is treated the same.
bool is_look_alike(std::string_view name)
{
    constexpr std::array<std::string_view, 4> guarded = {"content-length", "transfer-encoding",
                                                         "content-type", "content-encoding"};
    const auto is_odd = [](char c) { return !is_ascii_alnum(c) && c != '-'; };
    std::array<char, 20> plain;
    if (name.size() > plain.size() || std::none_of(name.begin(), name.end(), is_odd))
        return false;
    std::replace_copy_if(name.begin(), name.end(), plain.begin(), is_odd, '-');
    const std::string_view meant(plain.data(), name.size());
    return std::any_of(guarded.begin(), guarded.end(),
                       [&](std::string_view real) { return iequals(meant, real); });
}

tally count_fields(const request_header& head)
{
    tally seen;
    for (const auto& field : head) {
        ++seen.fields;
        const std::string_view value = field.value();
        switch (field.name()) {
            case http::field::host:
                ++seen.hosts;
                seen.host = value;
                break;
            case http::field::content_length:
                ++seen.lengths;
                seen.length = value;
                break;
            case http::field::transfer_encoding:
                ++seen.codings;
                seen.coding = value;
                break;
            case http::field::authorization: ++seen.authorizations; break;
            case http::field::content_type: ++seen.content_types; break;
            case http::field::expect:
                (iequals(value, "100-continue") ? seen.expects_continue : seen.expects_other) = true;
                break;
            case http::field::connection:
                seen.says_close |= list_contains(value, "close");
                seen.says_keep_alive |= list_contains(value, "keep-alive");
                break;
            default: seen.has_look_alike |= is_look_alike(field.name_string()); break;
        }
    }
    return seen;
}

// Anything but `chunked` alone is refused; this chooses the answer. A list of codings is not implemented
// (501), unless chunked is in it before the end: then the end of the body is undefined (400).
std::optional<errc> inspect_coding(std::string_view value)
{
    if (iequals(value, "chunked"))
        return std::nullopt;
    while (true) {
        const auto comma = value.find(',');
        const auto coding = trim_blanks(value.substr(0, comma));
        if (!is_token(coding))
            return errc::bad_request;
        if (comma == std::string_view::npos)
            return errc::transfer_coding_not_implemented;
        if (iequals(coding, "chunked"))
            return errc::bad_request;
        value.remove_prefix(comma + 1);
    }
}

std::optional<errc> inspect_framing(const request_header& head, const tally& seen, gate_verdict& verdict)
{
    if (seen.codings + seen.lengths > 1 || seen.has_look_alike)
        return errc::bad_request;
    if (seen.codings == 1) {
        if (head.version() < 11)
            return errc::bad_request;
        if (const auto why = inspect_coding(seen.coding))
            return why;
        verdict.body = body_kind::chunked;
    }
    if (seen.lengths == 1) {
        const auto length = parse_signed_decimal(seen.length);
        if (!length || seen.length.size() > longest_length)
            return errc::bad_request;
        verdict.body = body_kind::length;
        verdict.content_length = static_cast<std::uint64_t>(*length);
    }
    return std::nullopt;
}

bool has_body(const gate_verdict& verdict)
{
    return verdict.body == body_kind::chunked || verdict.content_length > 0;
}

// RFC 9110 defines no meaning for a body with these methods, so we refuse one instead of guessing.
bool takes_no_body(http::verb method)
{
    switch (method) {
        case http::verb::get:
        case http::verb::head:
        case http::verb::delete_:
        case http::verb::options:
        case http::verb::trace:
        case http::verb::connect: return true;
        default: return false;
    }
}

// HTTP/1.0 had no Host; HTTP/1.1 requires exactly one.
bool is_good_host(const request_header& head, const tally& seen)
{
    if (seen.hosts == 0)
        return head.version() < 11;
    return seen.hosts == 1 && is_host_and_port(seen.host);
}

// RFC 9112 prefers the host in an absolute target over the Host field. When they differ, something between
// the client and us has chosen by the one or by the other; we don't guess which.
bool is_good_target(const request_header& head, const tally& seen)
{
    const std::string_view target = head.target();
    if (target.starts_with('/'))
        return true;
    if (target == "*")
        return head.method() == http::verb::options;
    const auto absolute = split_absolute_target(target);
    if (!absolute)
        return false;
    return seen.hosts == 0 ? is_host_and_port(absolute->authority) : iequals(absolute->authority, seen.host);
}

std::optional<errc> inspect(const request_header& head, const tally& seen, gate_verdict& verdict)
{
    if (head.version() != 10 && head.version() != 11)
        return errc::http_version_not_supported;
    if (head.target().size() > head_scanner::max_request_line)
        return errc::uri_too_long;
    if (seen.fields > head_scanner::max_fields)
        return errc::headers_too_large;
    if (!is_good_host(head, seen) || !is_good_target(head, seen))
        return errc::bad_request;
    if (const auto why = inspect_framing(head, seen, verdict))
        return why;
    if (has_body(verdict) && takes_no_body(head.method()))
        return errc::bad_request;
    if (seen.authorizations > 1 || seen.content_types > 1)
        return errc::bad_request;
    if (seen.expects_other)
        return errc::expectation_failed;
    return std::nullopt;
}

}  // namespace

gate_verdict inspect_head(const request_header& head) noexcept
{
    const auto seen = count_fields(head);
    gate_verdict verdict;
    if (const auto why = inspect(head, seen, verdict)) {
        gate_verdict refused;
        refused.refusal = why;
        refused.close = true;
        return refused;
    }
    const bool persistent = head.version() == 11 || seen.says_keep_alive;
    verdict.close = seen.says_close || !persistent;
    // An HTTP/1.0 client that repeats the field without knowing it would take the 100 for the final answer.
    verdict.expects_continue = seen.expects_continue && head.version() == 11 && has_body(verdict);
    return verdict;
}

errc parser_error_to_errc(const error_code& ec) noexcept
{
    if (ec.category() == restante_category())
        return static_cast<errc>(ec.value());
    if (ec.category() != http::make_error_code(http::error::end_of_stream).category())
        return errc::client_gone;
    switch (static_cast<http::error>(ec.value())) {
        case http::error::end_of_stream:
        case http::error::partial_message: return errc::client_gone;
        case http::error::header_limit: return errc::headers_too_large;
        case http::error::body_limit: return errc::request_too_large;
        case http::error::bad_version: return errc::http_version_not_supported;
        case http::error::bad_alloc: return errc::no_room;
        case http::error::stale_parser: return errc::internal_error;
        default: return errc::bad_request;
    }
}

bool is_acceptable_chunk_extension(std::string_view extensions) noexcept
{
    constexpr std::size_t max_extension = 256;
    const auto is_control = [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F;
    };
    return extensions.size() <= max_extension &&
           std::none_of(extensions.begin(), extensions.end(), is_control);
}

}  // namespace restante
