#pragma once

#include "server/messages/attachments.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restante {

// One side of a chat, as people read it.
struct chat_message {
    std::string id = {};  // the messageId of a user's message
    std::string content = {};
    std::vector<attachment> attachments = {};

    bool operator==(const chat_message&) const = default;
};

// The messageId of `params.message`; nothing for other bodies, or an empty one.
std::optional<std::string> message_id_in(std::string_view request_body);

// What a person said, from the body of a message: `params.message`, if it has a messageId, in the words of
// any version of A2A. Nothing for other bodies, such as the manifest of an upload.
std::optional<chat_message> user_message_in(std::string_view request_body);

// What an agent said, from the body that a notice is stored with: {"result": text, "parts"?: […]}, or a
// `result` that is a message itself. Nothing for other bodies.
std::optional<chat_message> agent_message_in(std::string_view response_body);

// [{"uri","name","mimeType"?,"size"?}, …], as canvases read them.
void append_attachments(std::string& out, const std::vector<attachment>& files);

}  // namespace restante
