#include "cli/options.hpp"

#include "cli/option_types.hpp"

#include <algorithm>

namespace restante {

namespace {

template <class T>
std::optional<std::string> assign_to(T& to, const option& o, std::span<const std::string> values)
{
    auto value = option_type<T>::read(values.front(), o);
    if (!value)
        return values.front();
    to = *std::move(value);
    return std::nullopt;
}

// A list replaces the previous one; the single word "none" empties it.
template <class T>
std::optional<std::string> assign_to(std::vector<T>& to, const option& o, std::span<const std::string> values)
{
    std::vector<T> list;
    if (values.size() == 1 && values.front() == "none")
        values = {};
    for (const auto& text : values) {
        auto element = option_type<std::vector<T>>::read(text, o);
        if (!element)
            return text;
        list.push_back(*std::move(element));
    }
    to = std::move(list);
    return std::nullopt;
}

template <class T>
std::vector<std::string_view> choices_of(T settings::*)
{
    if constexpr (requires { option_type<T>::names; })
        return {option_type<T>::names.begin(), option_type<T>::names.end()};
    else
        return {};
}

template <class T>
std::string rule_of(T settings::*, const option& o)
{
    return option_type<T>::rule(o);
}

template <class T>
std::string default_of(T settings::* member)
{
    return option_type<T>::write(settings().*member);
}

}  // namespace

const option* find_option(std::string_view flag)
{
    const auto table = option_table();
    const auto at = std::find_if(table.begin(), table.end(), [&](const option& o) { return o.flag == flag; });
    return at == table.end() ? nullptr : &*at;
}

bool is_list(const option& o)
{
    return std::holds_alternative<std::vector<host_port> settings::*>(o.member) ||
           std::holds_alternative<std::vector<std::string> settings::*>(o.member) ||
           std::holds_alternative<std::vector<host_name> settings::*>(o.member) ||
           std::holds_alternative<std::vector<callback_net> settings::*>(o.member);
}

std::vector<std::string_view> choices(const option& o)
{
    return std::visit([](auto member) { return choices_of(member); }, o.member);
}

std::string environment_name(const option& o)
{
    std::string name = "RESTANTE_";
    for (const char c : o.flag)
        name += c == '-' ? '_' : static_cast<char>(c - 'a' + 'A');
    return name;
}

std::string allowed_values(const option& o)
{
    return std::visit([&](auto member) { return rule_of(member, o); }, o.member);
}

std::string default_text(const option& o)
{
    return std::visit([](auto member) { return default_of(member); }, o.member);
}

bool is_same(const settings& one, const settings& other, const option& o)
{
    return std::visit([&](auto member) { return one.*member == other.*member; }, o.member);
}

std::optional<std::string> assign(settings& to, const option& o, std::span<const std::string> values)
{
    return std::visit([&](auto member) { return assign_to(to.*member, o, values); }, o.member);
}

}  // namespace restante
