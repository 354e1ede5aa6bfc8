#include "server/messages/a2a_message.hpp"

#include "core/json_text.hpp"
#include "http/message/json_members.hpp"
#include "http/message/json_reader.hpp"

namespace restante {

namespace {

using value_text = std::optional<std::string_view>;

constexpr std::size_t longest_method = 1024;

// Writes an object member by member.
class object_writer {
public:
    explicit object_writer(std::string& out) : out_(out) { out_ += '{'; }
    ~object_writer() { out_ += '}'; }
    object_writer(const object_writer&) = delete;
    object_writer& operator=(const object_writer&) = delete;

    // The member up to its value, which the caller writes next.
    std::string& key(std::string_view quoted)
    {
        if (!std::exchange(first_, false))
            out_ += ',';
        out_ += quoted;
        out_ += ':';
        return out_;
    }
    void copy(const json_member_text& member) { key(member.key) += member.value; }
    void text(std::string_view quoted, std::string_view value) { append_json(key(quoted), value); }

private:
    std::string& out_;
    bool first_ = true;
};

struct envelope {
    value_text jsonrpc, method, params;

    explicit envelope(std::string_view body)
    {
        json_members members(body);
        while (const auto member = members.next()) {
            if (member->is("jsonrpc"))
                jsonrpc = member->value;
            else if (member->is("method"))
                method = member->value;
            else if (member->is("params"))
                params = member->value;
        }
    }
};

struct message_fields {
    value_text message_id, role, parts, content, context;

    explicit message_fields(std::string_view message)
    {
        json_members members(message);
        while (const auto member = members.next()) {
            if (member->is("messageId"))
                message_id = member->value;
            else if (member->is("role"))
                role = member->value;
            else if (member->is("parts"))
                parts = member->value;
            else if (member->is("content"))
                content = member->value;
            else if (member->is("contextId"))
                context = member->value;
        }
    }

    bool has_blank_context() const
    {
        if (!context || *context == "null")
            return true;
        const auto text = json_string(*context);
        return text && text->find_first_not_of(" \t\r\n") == std::string::npos;
    }
};

refusal missing_parts()
{
    refusal why(errc::bad_request, "params.message needs parts, or content");
    why.fields["hint"] = R"(send "parts":[{"kind":"text","text":"..."}], or "content":"...")";
    return why;
}

// One pass over the body, from the outside in. What it needs to know of an object it looks up before.
class normaliser {
public:
    normaliser(const message_route& route, uuid (*make_id)()) : route_(route), make_id_(make_id) {}

    std::optional<refusal> write_body(std::string& out, std::string_view body, const envelope& given);
    std::optional<std::string> message_id() { return std::move(message_id_); }

private:
    std::optional<refusal> write_params(std::string& out, std::string_view params);
    void write_metadata(std::string& out, std::string_view given);
    std::optional<refusal> write_message(std::string& out, std::string_view message);
    void write_parts(std::string& out, const message_fields& fields);
    void write_part(std::string& out, std::string_view part);

    const message_route& route_;
    uuid (*make_id_)();
    std::optional<std::string> message_id_;
};

std::optional<refusal> normaliser::write_body(std::string& out, std::string_view body, const envelope& given)
{
    object_writer object(out);
    if (!given.jsonrpc) {
        object.text(R"("jsonrpc")", "2.0");
        append_json(object.key(R"("id")"), make_id_());
        object.key(R"("method")") += *given.method;
        return given.params ? write_params(object.key(R"("params")"), *given.params) : std::nullopt;
    }
    json_members members(body);
    while (const auto member = members.next()) {
        if (!member->is("params"))
            object.copy(*member);
        else if (auto refused = write_params(object.key(member->key), member->value))
            return refused;
    }
    return std::nullopt;
}

std::optional<refusal> normaliser::write_params(std::string& out, std::string_view params)
{
    if (!is_json_object(params)) {
        out += params;
        return std::nullopt;
    }
    object_writer object(out);
    bool marked = !route_.from_canvas;
    json_members members(params);
    while (const auto member = members.next()) {
        if (member->is("message") && is_json_object(member->value)) {
            if (auto refused = write_message(object.key(member->key), member->value))
                return refused;
        } else if (member->is("metadata") && !marked) {
            write_metadata(object.key(member->key), member->value);
            marked = true;
        } else {
            object.copy(*member);
        }
    }
    if (!marked)
        write_metadata(object.key(R"("metadata")"), "{}");
    return std::nullopt;
}

// Metadata that is no object says nothing that could be kept beside ours.
void normaliser::write_metadata(std::string& out, std::string_view given)
{
    object_writer object(out);
    json_members members(given);
    while (const auto member = members.next())
        if (!member->is("source") && !member->is("user_identity_status"))
            object.copy(*member);
    object.text(R"("source")", "canvas_user");
    object.text(R"("user_identity_status")", "UNAUTHENTICATED");
}

std::optional<refusal> normaliser::write_message(std::string& out, std::string_view message)
{
    const message_fields fields(message);
    if (!fields.parts && !fields.content)
        return missing_parts();
    if (!fields.parts && !is_json_string(*fields.content) && !is_json_array(*fields.content))
        return refusal(errc::bad_request, "content of a message must be a text or a list of parts");
    if (fields.message_id)
        message_id_ = json_string(*fields.message_id);

    const bool sets_context = route_.from_canvas && fields.has_blank_context();
    object_writer object(out);
    json_members members(message);
    while (const auto member = members.next()) {
        if (member->is("parts") || (!fields.parts && member->is("content")))
            write_parts(object.key(R"("parts")"), fields);
        else if (!sets_context || !member->is("contextId"))
            object.copy(*member);
    }
    if (!fields.message_id)
        append_json(object.key(R"("messageId")"), make_id_());
    if (!fields.role)
        object.text(R"("role")", "user");
    if (sets_context)
        object.text(R"("contextId")", "canvas-" + to_string(route_.target));
    return std::nullopt;
}

void normaliser::write_parts(std::string& out, const message_fields& fields)
{
    const auto given = fields.parts ? *fields.parts : *fields.content;
    if (!fields.parts && is_json_string(given)) {
        out.append(R"([{"kind":"text","text":)").append(given).append("}]");
        return;
    }
    if (!is_json_array(given)) {
        out += given;
        return;
    }
    out += '[';
    json_elements elements(given);
    for (auto part = elements.next(); part; part = elements.next()) {
        if (out.back() != '[')
            out += ',';
        write_part(out, *part);
    }
    out += ']';
}

void normaliser::write_part(std::string& out, std::string_view part)
{
    if (!is_json_object(part) || json_member(part, "kind") || !json_member(part, "type")) {
        out += part;
        return;
    }
    object_writer object(out);
    json_members members(part);
    while (const auto member = members.next()) {
        if (member->is("type"))
            object.key(R"("kind")") += member->value;
        else
            object.copy(*member);
    }
}

}  // namespace

answerable<a2a_message> normalise_message(std::string_view text, const message_route& route,
                                          uuid (*make_id)())
{
    if (!check_json(text) || !is_json_object(text))
        return refusal(errc::malformed_json, "invalid JSON");
    const envelope given(text);
    const auto method = given.method ? json_string(*given.method) : std::nullopt;
    // A zero character is legal JSON and cannot be stored as text.
    if (!method || method->empty() || method->find('\0') != std::string::npos)
        return refusal(errc::bad_request, "method must be a string");
    if (method->size() > longest_method)
        return refusal(errc::bad_request, "method is longer than 1,024 bytes");

    a2a_message made{.body = {}, .method = *method, .message_id = {}};
    constexpr std::size_t additions = 512;
    made.body.reserve(text.size() + additions);
    normaliser work(route, make_id);
    if (auto refused = work.write_body(made.body, text, given))
        return std::move(*refused);
    made.message_id = work.message_id();
    if (made.message_id && made.message_id->empty())
        made.message_id.reset();
    return made;
}

}  // namespace restante
