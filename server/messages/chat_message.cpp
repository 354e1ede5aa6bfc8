#include "server/messages/chat_message.hpp"

#include "core/json_text.hpp"
#include "http/message/json_members.hpp"

namespace restante {

namespace {

std::optional<std::string_view> message_in(std::string_view request_body)
{
    const auto params = json_member(request_body, "params");
    return params ? json_member(*params, "message") : std::nullopt;
}

std::optional<std::string> id_of(std::string_view message)
{
    const auto id = json_member(message, "messageId");
    auto name = id ? json_string(*id) : std::nullopt;
    if (name && name->empty())
        return std::nullopt;
    return name;
}

// A part of A2A 1.0 has no kind.
std::optional<std::string> text_of_part(std::string_view part)
{
    const auto kind = json_member(part, "kind");
    if (kind && json_string(*kind) != "text")
        return std::nullopt;
    const auto text = json_member(part, "text");
    return text ? json_string(*text) : std::nullopt;
}

void add_parts(chat_message& to, std::string_view parts)
{
    to.attachments = attachments_in(parts);
    json_elements elements(parts);
    for (auto part = elements.next(); part; part = elements.next()) {
        const auto text = text_of_part(*part);
        if (!text || text->empty())
            continue;
        if (!to.content.empty())
            to.content += '\n';
        to.content += *text;
    }
}

}  // namespace

std::optional<std::string> message_id_in(std::string_view request_body)
{
    const auto message = message_in(request_body);
    return message ? id_of(*message) : std::nullopt;
}

std::optional<chat_message> user_message_in(std::string_view request_body)
{
    const auto message = message_in(request_body);
    auto id = message ? id_of(*message) : std::nullopt;
    if (!id)
        return std::nullopt;
    chat_message said{.id = std::move(*id)};
    if (const auto parts = json_member(*message, "parts"))
        add_parts(said, *parts);
    return said;
}

std::optional<chat_message> agent_message_in(std::string_view response_body)
{
    const auto result = json_member(response_body, "result");
    if (!result)
        return std::nullopt;
    chat_message said;
    const auto holder = is_json_object(*result) ? *result : response_body;
    if (const auto parts = json_member(holder, "parts"))
        add_parts(said, *parts);
    if (auto text = json_string(*result))
        said.content = std::move(*text);
    if (said.content.empty() && said.attachments.empty())
        return std::nullopt;
    return said;
}

void append_attachments(std::string& out, const std::vector<attachment>& files)
{
    out += '[';
    for (const auto& file : files) {
        if (out.back() != '[')
            out += ',';
        append_member(out, R"({"uri":)", file.uri);
        append_member(out, R"(,"name":)", file.name.value_or(""));
        if (file.mime_type)
            append_member(out, R"(,"mimeType":)", *file.mime_type);
        if (file.size)
            append_member(out, R"(,"size":)", *file.size);
        out += '}';
    }
    out += ']';
}

}  // namespace restante
