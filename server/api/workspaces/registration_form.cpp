#include "server/api/workspaces/registration_form.hpp"

#include "core/text.hpp"

#include <boost/json/serialize.hpp>
#include <boost/url/parse.hpp>

#include <algorithm>

namespace restante {

namespace {

namespace json = boost::json;

constexpr std::size_t max_url = 2048;
constexpr std::size_t max_name = 255;

refusal bad(std::string sentence)
{
    return {errc::bad_request, std::move(sentence)};
}

// The text of a member; nothing when it is absent, null or empty.
answerable<std::optional<std::string>> text_of(const json::object& body, std::string_view key)
{
    const auto* value = body.if_contains(key);
    if (!value || value->is_null())
        return std::optional<std::string>();
    const auto* text = value->if_string();
    if (!text)
        return bad(std::string(key) + " must be a string");
    if (text->empty())
        return std::optional<std::string>();
    return std::optional<std::string>(std::string_view(*text));
}

// Agents that are called may say where in their card alone.
std::optional<std::string> card_url(const json::object& body)
{
    const auto* mode = body.if_contains("delivery_mode");
    const auto* card = body.if_contains("agent_card");
    if (!mode || *mode != "push" || !card || !card->is_object())
        return std::nullopt;
    const auto* url = card->as_object().if_contains("url");
    if (!url || !url->is_string() || url->as_string().empty())
        return std::nullopt;
    return std::string(url->as_string());
}

answerable<delivery_mode> mode_of(const json::object& body, bool has_url)
{
    auto text = text_of(body, "delivery_mode");
    if (!text)
        return text.error();
    if (!*text && !has_url)
        return bad("delivery_mode must be given: poll, or push with a url");
    const auto mode = parse_delivery_mode(text->value_or("push"));
    if (!mode)
        return bad("unknown delivery_mode: it must be poll or push");
    return *mode;
}

// An absolute http or https URL with a host and without a password, of at most 2048 characters.
bool is_callback_url(std::string_view text)
{
    if (text.size() > max_url)
        return false;
    const auto url = boost::urls::parse_uri(text);
    return url && (iequals(url->scheme(), "http") || iequals(url->scheme(), "https")) &&
           !url->host().empty() && !url->has_userinfo();
}

}  // namespace

answerable<registration> read_registration(const json::value& body)
{
    const auto* object = body.if_object();
    if (!object)
        return bad("the body must be a JSON object");

    registration read;
    const auto id = text_of(*object, "id");
    const auto parsed = id && *id ? parse_uuid(**id) : std::nullopt;
    if (!parsed)
        return refusal(errc::invalid_workspace_id);
    read.id = *parsed;

    auto url = text_of(*object, "url");
    if (!url)
        return url.error();
    read.url = std::move(*url);
    if (!read.url)
        read.url = card_url(*object);
    const auto mode = mode_of(*object, read.url.has_value());
    if (!mode)
        return mode.error();
    read.mode = *mode;
    switch (find_delivery_fault(read.mode, read.url)) {
        case delivery_fault::none: break;
        case delivery_fault::push_without_url: return bad("delivery_mode push needs a url");
        case delivery_fault::bad_url: return bad("url must be an absolute http or https URL");
    }

    auto name = text_of(*object, "name");
    if (!name)
        return name.error();
    if (*name &&
        ((*name)->size() > max_name || std::any_of((*name)->begin(), (*name)->end(), is_ascii_control)))
        return bad("name must have at most 255 bytes and no control characters");
    read.name = std::move(*name);

    if (const auto* card = object->if_contains("agent_card"); card && !card->is_null()) {
        if (!card->is_object())
            return bad("agent_card must be an object");
        read.agent_card = json::serialize(*card);
    }
    return read;
}

delivery_fault find_delivery_fault(delivery_mode mode, const std::optional<std::string>& url)
{
    if (url && !is_callback_url(*url))
        return delivery_fault::bad_url;
    if (mode == delivery_mode::push && !url)
        return delivery_fault::push_without_url;
    return delivery_fault::none;
}

}  // namespace restante
