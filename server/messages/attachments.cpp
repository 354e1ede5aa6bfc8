#include "server/messages/attachments.hpp"

#include "core/decimal.hpp"
#include "http/message/json_members.hpp"

#include <algorithm>
#include <array>

namespace restante {

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

std::optional<std::string> text_at(std::string_view object, std::string_view key)
{
    const auto found = json_member(object, key);
    auto text = found ? json_string(*found) : std::nullopt;
    return text && !text->empty() ? text : std::nullopt;
}

std::optional<std::string> first_text(std::string_view object, std::initializer_list<std::string_view> keys)
{
    for (const auto key : keys)
        if (auto text = text_at(object, key))
            return text;
    return std::nullopt;
}

std::optional<std::int64_t> size_at(std::string_view object)
{
    const auto found = json_member(object, "size");
    const auto size = found ? parse_signed_decimal(*found) : std::nullopt;
    return size && *size > 0 ? size : std::nullopt;
}

std::optional<attachment> read_file(std::string_view described, std::optional<std::string> kind)
{
    auto uri = text_at(described, "uri");
    if (!uri)
        return std::nullopt;
    auto type = first_text(described, {"mimeType", "mime_type"});
    if (!kind)
        kind = kind_from_mimetype(type.value_or(""));
    return attachment{std::move(*kind), std::move(*uri), std::move(type), text_at(described, "name"),
                      size_at(described)};
}

// Parts of A2A 1.0 say what they are by the member they have, and have no kind.
std::optional<attachment> read_url_part(std::string_view part)
{
    auto url = text_at(part, "url");
    if (!url)
        return std::nullopt;
    auto type = text_at(part, "mediaType");
    auto kind = kind_from_mimetype(type.value_or(""));
    return attachment{std::move(kind), std::move(*url), std::move(type), text_at(part, "filename"),
                      size_at(part)};
}

std::optional<attachment> read_part(std::string_view part)
{
    const auto given = json_member(part, "kind");
    if (!given)
        return read_url_part(part);
    auto kind = json_string(*given);
    if (!kind || !is_kind(*kind))
        return std::nullopt;
    const auto nested = json_member(part, "file");
    return read_file(nested && is_json_object(*nested) ? *nested : part, std::move(kind));
}

}  // namespace

std::vector<attachment> attachments_in(std::string_view parts)
{
    std::vector<attachment> found;
    json_elements elements(parts);
    for (auto part = elements.next(); part && found.size() < most_attachments; part = elements.next())
        if (auto file = read_part(*part))
            found.push_back(std::move(*file));
    return found;
}

std::vector<attachment> attachments_of(std::string_view request_body)
{
    // Every shape that we know has one of these; most bodies without files need not be read to see that.
    if (request_body.find("\"uri\"") == std::string_view::npos &&
        request_body.find("\"url\"") == std::string_view::npos)
        return {};
    std::optional<std::string_view> parts = request_body;
    for (const auto* key : {"params", "message", "parts"})
        if (parts)
            parts = json_member(*parts, key);
    if (parts && is_json_array(*parts))
        return attachments_in(*parts);
    std::vector<attachment> found;
    if (auto file = read_file(request_body, std::nullopt))
        found.push_back(std::move(*file));
    return found;
}

}  // namespace restante
