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

// A text of the agent's card; nothing when it is absent, of another type or empty.
std::optional<std::string> card_text(const json::object& body, std::string_view key)
{
    const auto* card = body.if_contains("agent_card");
    const auto* value = card && card->is_object() ? card->as_object().if_contains(key) : nullptr;
    if (!value || !value->is_string() || value->as_string().empty())
        return std::nullopt;
    return std::string(value->as_string());
}

// Agents without an address of their own say so by a url like remote://no-inbound.
bool means_poll(const std::optional<std::string>& url)
{
    return url && istarts_with(*url, "remote:");
}

// Agents that are called may say where in their card alone; those that name no mode may not.
answerable<void> read_delivery(const json::object& body, registration& into)
{
    auto url = text_of(body, "url");
    if (!url)
        return url.error();
    const auto mode = text_of(body, "delivery_mode");
    if (!mode)
        return mode.error();
    if (!*mode && !*url)
        return bad("delivery_mode must be given: poll, or push with a url");
    const auto guess = means_poll(*url) ? "poll" : "push";
    const auto parsed = parse_delivery_mode(mode->value_or(guess));
    if (!parsed)
        return bad("unknown delivery_mode: delivery_mode must be 'push' or 'poll'");
    into.mode = *parsed;
    into.mode_is_guess = !*mode;
    into.url = std::move(*url);
    if (!into.url && into.mode == delivery_mode::push)
        into.url = card_text(body, "url");
    return {};
}

bool is_name(std::string_view text)
{
    return text.size() <= max_name && std::none_of(text.begin(), text.end(), is_ascii_control);
}

bool is_storable(std::string_view url)
{
    return url.size() <= max_url && url.find('\0') == std::string_view::npos;
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

answerable<registration_form> read_registration(const json::value& body)
{
    const auto* object = body.if_object();
    if (!object)
        return bad("the body must be a JSON object");

    registration_form read;
    const auto id = text_of(*object, "id");
    const auto parsed = id && *id ? parse_uuid(**id) : std::nullopt;
    if (!parsed)
        return refusal(errc::invalid_workspace_id);
    read.id = *parsed;

    if (const auto delivery = read_delivery(*object, read); !delivery)
        return delivery.error();
    if (!read.mode_is_guess)
        if (const auto fits = check_delivery(read); !fits)
            return fits.error();

    auto name = text_of(*object, "name");
    if (!name)
        return name.error();
    if (*name && !is_name(**name))
        return bad("name must have at most 255 bytes and no control characters");
    read.name = std::move(*name);
    read.card_name = card_text(*object, "name");
    if (read.card_name && !is_name(*read.card_name))
        read.card_name.reset();
    if (read.mode == delivery_mode::push)
        read.card_url = card_text(*object, "url");

    if (const auto* card = object->if_contains("agent_card"); card && !card->is_null()) {
        if (!card->is_object())
            return bad("agent_card must be an object");
        read.agent_card = json::serialize(*card);
    }
    return read;
}

answerable<void> check_delivery(const registration& what)
{
    switch (find_delivery_fault(what.mode, what.url)) {
        case delivery_fault::none: break;
        case delivery_fault::push_without_url: return bad("url is required for push-mode workspaces");
        case delivery_fault::bad_url:
            return bad(what.mode == delivery_mode::push
                           ? "url must be an absolute http or https URL"
                           : "url must have at most 2048 bytes and no zero character");
    }
    return {};
}

delivery_fault find_delivery_fault(delivery_mode mode, const std::optional<std::string>& url)
{
    // A workspace that polls is never called: what it calls its url is its own affair.
    if (mode != delivery_mode::push)
        return !url || is_storable(*url) ? delivery_fault::none : delivery_fault::bad_url;
    if (!url)
        return delivery_fault::push_without_url;
    return is_callback_url(*url) ? delivery_fault::none : delivery_fault::bad_url;
}

}  // namespace restante
