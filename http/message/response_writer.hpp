#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"
#include "http/message/response.hpp"

#include <string_view>

namespace restante {

class connection;

// What the session knows about an answer and its handler does not.
struct answer_frame {
    std::string_view request_id;
    bool head_only = false;   // HEAD
    bool keep_alive = false;  // otherwise the answer says Connection: close
    bool chunks = true;       // the client understands them (HTTP/1.1)
};

// False when only chunks, or the end of the connection, can tell where the body ends.
bool has_known_length(const response& answer);

// Sends the answer with its framing and the fields that every answer carries. A small one takes a single
// write. Errors are those of connection::write; after an incomplete answer the connection is unusable.
awaitable<error_code> send_response(connection& conn, response& answer, const answer_frame& frame);

// Sends the head of an answer whose body ends with the connection.
awaitable<error_code> send_stream_head(connection& conn, const response& answer, std::string_view request_id);

}  // namespace restante
