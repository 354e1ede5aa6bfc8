#include "server/commands/flag_values.hpp"

#include "cli/config_values.hpp"

namespace restante {

namespace {

std::string sentence(std::string_view flag, const std::string& rule, const std::string& text)
{
    return std::string(flag) + " must be " + rule + ", but " + in_quotes(text) + " was given.";
}

}  // namespace

std::optional<std::string> put_count(boost::json::object& to, std::string_view member, std::string_view flag,
                                     const std::string& text, std::int64_t most)
{
    if (text.empty())
        return std::nullopt;
    const auto number = parse_whole_number(text);
    if (!number || *number < 1 || *number > most)
        return sentence(flag, "a whole number from 1 to " + std::to_string(most), text);
    to[member] = *number;
    return std::nullopt;
}

std::optional<std::string> put_size(boost::json::object& to, std::string_view member, std::string_view flag,
                                    const std::string& text, std::int64_t most)
{
    if (text.empty())
        return std::nullopt;
    const auto bytes = parse_size(text);
    if (!bytes || *bytes < 1 || *bytes > most)
        return sentence(flag,
                        "a size from 1 to " + format_size(static_cast<std::uint64_t>(most)) +
                            ", in bytes or written like 500KiB, 10MiB or 1GiB",
                        text);
    to[member] = *bytes;
    return std::nullopt;
}

std::optional<std::string> put_lifetime(boost::json::object& to, const std::string& text,
                                        std::chrono::seconds most)
{
    if (text.empty())
        return std::nullopt;
    const auto life = parse_duration(text);
    if (!life || *life < std::chrono::seconds(1) || *life > most)
        return sentence(
            "--expires",
            "a duration from 1s to " + format_duration(most) + ", written like 90s, 15m, 12h or 7d", text);
    to["expires_in"] = std::chrono::duration_cast<std::chrono::seconds>(*life).count();
    return std::nullopt;
}

}  // namespace restante
