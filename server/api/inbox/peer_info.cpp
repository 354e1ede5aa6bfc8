#include "server/api/inbox/peer_info.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <array>

namespace restante {

namespace json = boost::json;

namespace {

constexpr std::array<std::string_view, 4> kinds{"file", "image", "audio", "video"};

bool is_kind(std::string_view text)
{
    return std::find(kinds.begin(), kinds.end(), text) != kinds.end();
}

// "image/png" is an image; what is neither image, audio nor video is just a file.
std::string kind_from_mimetype(std::string_view mimetype)
{
    const auto family = mimetype.substr(0, mimetype.find('/'));
    return std::string(is_kind(family) ? family : "file");
}

const json::value* find(const json::value& in, std::string_view key)
{
    const auto* object = in.if_object();
    return object ? object->if_contains(key) : nullptr;
}

std::optional<std::string> text_at(const json::value& in, std::string_view key)
{
    const auto* found = find(in, key);
    const auto* text = found ? found->if_string() : nullptr;
    if (!text || text->empty())
        return std::nullopt;
    return std::string(*text);
}

std::optional<attachment> read_file(const json::value& described, std::string kind)
{
    auto uri = text_at(described, "uri");
    if (!uri)
        return std::nullopt;
    return attachment{std::move(kind), std::move(*uri), text_at(described, "mimeType"),
                      text_at(described, "name")};
}

std::optional<attachment> read_part(const json::value& part)
{
    auto kind = text_at(part, "kind");
    if (!kind || !is_kind(*kind))
        return std::nullopt;
    const auto* nested = find(part, "file");
    return read_file(nested && nested->is_object() ? *nested : part, std::move(*kind));
}

const json::array* message_parts(const json::value& body)
{
    const auto* at = &body;
    for (const auto* key : {"params", "message", "parts"}) {
        at = find(*at, key);
        if (!at)
            return nullptr;
    }
    return at->if_array();
}

}  // namespace

std::vector<attachment> attachments_of(std::string_view request_body)
{
    std::vector<attachment> found;
    // Every shape that we know has a uri; most bodies without files need not be parsed to see that.
    if (request_body.find("\"uri\"") == std::string_view::npos)
        return found;
    boost::system::error_code ec;
    const auto body = json::parse(request_body, ec);
    if (ec)
        return found;
    const auto add = [&](std::optional<attachment> file) {
        if (file)
            found.push_back(std::move(*file));
    };
    if (const auto* parts = message_parts(body)) {
        for (const auto& part : *parts)
            add(read_part(part));
    } else {
        add(read_file(body, kind_from_mimetype(text_at(body, "mimeType").value_or(""))));
    }
    return found;
}

}  // namespace restante
