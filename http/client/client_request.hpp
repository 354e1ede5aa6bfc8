#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"
#include "http/client/http_url.hpp"

#include <boost/beast/http/verb.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace restante {

struct client_request {
    http_origin to;
    boost::beast::http::verb method = boost::beast::http::verb::get;
    std::string target = "/";  // path and query, encoded

    // Besides Host and the framing. Values without control characters.
    struct field {
        std::string_view name;
        std::string value;
    };
    std::vector<field> fields = {};
};

// The body of a request, asked for piece by piece as the server takes it.
class request_source {
public:
    virtual ~request_source() = default;

    // Absent while it is unknown: the body is then sent in chunks.
    virtual std::optional<std::uint64_t> length() const = 0;

    // The next bytes, valid until the next call; an empty span is the end. An error breaks the request off,
    // so that the server never takes it for whole, and is passed to the caller unchanged.
    virtual awaitable<result<std::span<const char>>> next() = 0;

    // A next() that is waiting comes back with an error, because the rest is not wanted.
    virtual void interrupt() = 0;
};

enum class request_framing { no_body, length, chunks };

// The head as it is sent.
std::string make_request_head(const client_request& what, request_framing how, std::uint64_t length);

// `HTTP/1.1 100 Continue` before the answer, which a server may send without being asked.
enum class interim { none, incomplete, complete };
// What `received` begins with; size is that of a complete one.
struct interim_found {
    interim what = interim::none;
    std::size_t size = 0;
};
interim_found find_interim(std::string_view received) noexcept;

}  // namespace restante
