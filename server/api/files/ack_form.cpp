#include "server/api/files/ack_form.hpp"

#include "core/encoding.hpp"
#include "http/message/json_reader.hpp"

#include <boost/json/value.hpp>

#include <algorithm>

namespace restante {

namespace {

namespace json = boost::json;

constexpr std::size_t most_at_once = 500;

answerable<file_to_ack> with_digest(const uuid& file, const json::object& said)
{
    const auto* given = said.if_contains("sha256");
    if (!given || given->is_null())
        return file_to_ack{file};
    const auto* text = given->if_string();
    digest32 digest{};
    if (!text || !from_hex(*text, digest))
        return refusal(errc::bad_request, "sha256 must be 64 hexadecimal digits");
    return file_to_ack{file, digest};
}

answerable<file_to_ack> read_item(const json::value& item)
{
    const auto* object = item.if_object();
    const auto* id = object ? object->if_contains("file_id") : &item;
    const auto* text = id ? id->if_string() : nullptr;
    const auto file = text ? parse_uuid(*text) : std::nullopt;
    if (!file)
        return refusal(errc::invalid_file_id);
    if (!object)
        return file_to_ack{*file};
    return with_digest(*file, *object);
}

bool is_listed(const std::vector<file_to_ack>& files, const uuid& file)
{
    return std::any_of(files.begin(), files.end(), [&](const auto& each) { return each.file_id == file; });
}

}  // namespace

answerable<file_to_ack> read_ack(const uuid& file, std::string_view body)
{
    if (body.empty())
        return file_to_ack{file};
    const auto parsed = parse_json(body);
    if (!parsed)
        return refusal(parsed.error());
    const auto* object = parsed->if_object();
    if (!object)
        return refusal(errc::bad_request, "the body of an ack must be an object");
    return with_digest(file, *object);
}

answerable<std::vector<file_to_ack>> read_ack_batch(const json::value& body)
{
    const auto* object = body.if_object();
    const auto* given = object ? object->if_contains("file_ids") : nullptr;
    const auto* list = given ? given->if_array() : nullptr;
    if (!list || list->size() > most_at_once)
        return refusal(errc::bad_request, "file_ids must be a list of at most 500 ids");
    std::vector<file_to_ack> files;
    for (const auto& item : *list) {
        const auto file = read_item(item);
        if (!file)
            return file.error();
        if (!is_listed(files, file->file_id))
            files.push_back(*file);
    }
    return files;
}

}  // namespace restante
