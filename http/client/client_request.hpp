#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"
#include "core/trace.hpp"
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

    // What this request is made for; sent as `traceparent`.
    const trace_context* trace = nullptr;
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

// Answers of 1xx before the final one, which a server may send without being asked (RFC 9110, 15.2): `100
// Continue`, `102 Processing`, `103 Early Hints`. 101 is none of them, it hands the connection over.
enum class interim { none, incomplete, complete };
constexpr bool is_interim_status(unsigned status)
{
    return status >= 100 && status <= 199 && status != 101;
}
// More before one answer are too many. A server that works for 20 min may report every 20 s.
inline constexpr int most_interims = 100;
inline constexpr std::size_t longest_answer_head = 16 * 1024;

// What `received` begins with; size is that of a complete one.
struct interim_found {
    interim what = interim::none;
    std::size_t size = 0;
};
interim_found find_interim(std::string_view received) noexcept;

}  // namespace restante
