#include "server/api/common/field_reader.hpp"

#include "core/text.hpp"

#include <algorithm>

namespace restante {

namespace {

constexpr std::size_t longest_line = 255;

}  // namespace

field_reader::field_reader(const boost::json::value& body) : body_(body.if_object())
{
    if (!body_)
        refuse("the body must be a JSON object");
}

std::optional<std::string> field_reader::line(std::string_view name)
{
    const auto* value = find(name);
    if (!value)
        return std::nullopt;
    const auto* text = value->if_string();
    if (!text || text->size() > longest_line || std::any_of(text->begin(), text->end(), is_ascii_control)) {
        refuse(std::string(name) + " must be a text of at most 255 bytes without control characters");
        return std::nullopt;
    }
    return text->empty() ? std::nullopt : std::optional<std::string>(*text);
}

std::optional<std::int64_t> field_reader::whole(std::string_view name, std::int64_t least, std::int64_t most)
{
    const auto* value = find(name);
    if (!value)
        return std::nullopt;
    const auto* number = value->if_int64();
    if (!number || *number < least || *number > most) {
        refuse(std::string(name) + " must be a whole number from " + std::to_string(least) + " to " +
               std::to_string(most));
        return std::nullopt;
    }
    return *number;
}

std::vector<std::string> field_reader::texts(std::string_view name, std::size_t most)
{
    const auto* value = find(name);
    if (!value)
        return {};
    const auto* list = value->if_array();
    std::vector<std::string> read;
    for (std::size_t i = 0; list && i < list->size() && (*list)[i].is_string(); ++i)
        read.emplace_back((*list)[i].get_string());
    if (!list || read.size() != list->size() || list->empty() || list->size() > most)
        refuse(std::string(name) + " must be a list of 1 to " + std::to_string(most) + " texts");
    return read;
}

void field_reader::refuse(std::string sentence)
{
    if (!refused_)
        refused_.emplace(errc::bad_request, std::move(sentence));
}

const boost::json::value* field_reader::find(std::string_view name) const
{
    const auto* value = body_ ? body_->if_contains(name) : nullptr;
    return value && !value->is_null() ? value : nullptr;
}

}  // namespace restante
