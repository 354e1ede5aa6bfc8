#include "server/api/page/page.hpp"

#include "http/message/byte_range.hpp"
#include "http/message/content_coding.hpp"
#include "http/session/request_context.hpp"
#include "server/api/page/services.hpp"
#include "server/api/page/web_files.hpp"

#include <algorithm>

namespace restante {

namespace {

// Nothing but this server's own files, no inline script or style, no frame around it. web/index.html adds
// what a browser needs to refuse text as HTML.
constexpr std::string_view content_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

constexpr std::string_view asset_prefix = "/assets/";

std::string_view as_text(std::span<const unsigned char> bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void add_protection(http::response_header<>& head)
{
    head.set("Content-Security-Policy", content_policy);
    head.set("Referrer-Policy", "no-referrer");
    head.set("Cross-Origin-Opener-Policy", "same-origin");
    head.set("Cross-Origin-Resource-Policy", "same-origin");
}

// Two representations, two tags: a cache must not take one for the other.
response send_file(const request_context& req, const web_file& file, std::string_view caching, bool packed)
{
    std::string tag = '"' + std::string(file.sha256.substr(0, 32)) + (packed ? "-gzip\"" : "\"");
    response answer;
    add_protection(answer.head);
    answer.head.set(http::field::cache_control, caching);
    answer.head.set(http::field::etag, tag);
    if (if_none_match_hits(req.header(http::field::if_none_match), tag)) {
        answer.head.result(http::status::not_modified);
        return answer;
    }
    answer.head.result(http::status::ok);
    answer.head.set(http::field::content_type, file.media_type);
    if (packed)
        answer.head.set(http::field::content_encoding, "gzip");
    const auto bytes = as_text(packed ? file.packed : file.plain);
    auto held = req.charge(memory_use::answer);
    if (!held.grow_to(bytes.size()))
        return req.fail(errc::no_room);
    answer.body = std::string(bytes);
    answer.held = std::move(held);
    return answer;
}

}  // namespace

// GET /, /send, /inbox, /operator: one document, which looks at its address. Asked for again each time, so
// that a new server's page is seen at once. It is small, and never compressed: scanners take compression of a page
// for BREACH.
awaitable<response> handle_page(request_context& req, page_services&)
{
    co_return send_file(req, web_files().front(), "no-cache", false);
}

// GET /assets/<build>/<name>. Another build's address is unknown here: its files would not fit together.
awaitable<response> handle_asset(request_context& req, page_services&)
{
    auto path = req.path().substr(asset_prefix.size());
    if (!path.starts_with(web_build()) || path.size() <= web_build().size())
        co_return req.fail(errc::no_such_route);
    path.remove_prefix(web_build().size() + 1);
    const auto files = web_files().subspan(1);
    const auto found =
        std::find_if(files.begin(), files.end(), [&](const auto& f) { return f.name == path; });
    if (found == files.end())
        co_return req.fail(errc::no_such_route);
    const bool packed = accepts_gzip(req.header(http::field::accept_encoding));
    auto answer = send_file(req, *found, "public, max-age=31536000, immutable", packed);
    answer.head.set(http::field::vary, "Accept-Encoding");
    co_return answer;
}

}  // namespace restante
