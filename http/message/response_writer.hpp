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
    bool keep_alive = false;  // otherwise the client is told that the connection ends
};

// Sends the answer with its framing and the fields that every answer carries. A small one leaves in one
// write. Errors are those of connection::write; an answer that could not be sent whole leaves the connection
// useless.
awaitable<error_code> send_response(connection& conn, response& answer, const answer_frame& frame);

// Sends the head of an answer whose body ends with the connection.
awaitable<error_code> send_stream_head(connection& conn, const response& answer, std::string_view request_id);

}  // namespace restante
