#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"
#include "core/memory_budget.hpp"
#include "http/message/request_gate.hpp"
#include "http/net/file_part.hpp"

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/status.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

namespace restante {

class connection;

namespace http = boost::beast::http;

// A body that is fetched while it is sent, so that no answer has to fit into memory.
class body_source {
public:
    virtual ~body_source() = default;

    // Absent while it is unknown: the body is then sent in chunks, up to the first empty piece.
    virtual std::optional<std::uint64_t> length() const = 0;

    // The next bytes, valid until the next call; not called after length() bytes. An error, or an early end,
    // aborts the connection: the status has been sent, so nothing else can tell the client.
    virtual awaitable<result<std::span<const char>>> next() = 0;

    // The whole body as a part of a file, where it is one: a plain connection sends it without next().
    virtual std::optional<file_part> file() const { return std::nullopt; }

    // Called once, at the end of the answer. HEAD never sends all bytes.
    virtual void finished(bool all_bytes_sent) = 0;
};

// Takes over the connection and runs until it ends: WebSocket. Nothing has been answered yet, and bytes that
// the client sent early are in connection::input.
using takeover = std::function<awaitable<void>(connection&, const request_header&)>;

// Gets the connection once the head of the answer has been sent, and writes a body without a known length
// that ends with the connection: Server-Sent Events.
using stream_body = std::function<awaitable<void>(connection&)>;

// What a handler answers. Framing and the fields that every answer carries are added when it is sent.
struct response {
    http::response_header<> head;
    std::variant<std::string, std::unique_ptr<body_source>, takeover, stream_body> body;
    memory_charge held = {};  // for the body, until it is sent
};

}  // namespace restante
