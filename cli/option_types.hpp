#pragma once

#include "cli/config_values.hpp"
#include "cli/options.hpp"

#include <array>
#include <type_traits>

namespace restante {

// How a setting of each type is parsed, described and formatted; only cli/options.cpp uses this.
//
//   read   the value, or nullopt if the text is not one or is outside the option's range
//   rule   completes the sentence "It must be …"
//   write  text that read accepts
template <class T>
struct option_type;

inline bool is_within(std::int64_t value, const option& o)
{
    return value >= o.least && value <= o.most;
}

inline std::string range_text(const option& o, std::string (*write)(std::int64_t))
{
    return " from " + write(o.least) + " to " + write(o.most);
}

template <>
struct option_type<bool> {
    static std::optional<bool> read(std::string_view text, const option&) { return parse_bool(text); }
    static std::string rule(const option&) { return "true or false"; }
    static std::string write(bool value) { return value ? "true" : ""; }
};

template <>
struct option_type<unsigned> {
    static std::optional<unsigned> read(std::string_view text, const option& o)
    {
        const auto value = parse_whole_number(text);
        return value && is_within(*value, o) ? std::optional(static_cast<unsigned>(*value)) : std::nullopt;
    }
    static std::string rule(const option& o) { return "a whole number" + range_text(o, write); }
    static std::string write(std::int64_t value) { return std::to_string(value); }
};

// 64-bit values are bytes, 32-bit values are counts.
template <>
struct option_type<std::uint64_t> {
    static std::optional<std::uint64_t> read(std::string_view text, const option& o)
    {
        const auto value = parse_size(text);
        return value && is_within(*value, o) ? std::optional(static_cast<std::uint64_t>(*value))
                                             : std::nullopt;
    }
    static std::string rule(const option& o)
    {
        const auto write_signed = [](std::int64_t n) { return format_size(static_cast<std::uint64_t>(n)); };
        return "a size" + range_text(o, write_signed) +
               ", in plain bytes or written like 64KiB, 128MiB or 1GiB";
    }
    static std::string write(std::uint64_t value) { return format_size(value); }
};

template <class Ratio>
struct option_type<std::chrono::duration<std::int64_t, Ratio>> {
    using duration = std::chrono::duration<std::int64_t, Ratio>;
    static std::optional<duration> read(std::string_view text, const option& o)
    {
        const auto value = parse_duration(text);
        if (!value || !is_within(value->count(), o))
            return std::nullopt;
        return std::chrono::duration_cast<duration>(*value);
    }
    static std::string rule(const option& o)
    {
        const auto write_micros = [](std::int64_t n) {
            return format_duration(std::chrono::microseconds(n));
        };
        return "a duration" + range_text(o, write_micros) + ", written like 500ms, 90s, 5m, 1h or 30d";
    }
    static std::string write(duration value) { return format_duration(value); }
};

template <>
struct option_type<std::string> {
    static std::optional<std::string> read(std::string_view text, const option& o)
    {
        const bool long_enough = static_cast<std::int64_t>(text.size()) >= o.least;
        return long_enough ? std::optional<std::string>(text) : std::nullopt;
    }
    static std::string rule(const option&) { return "a text that is not empty"; }
    static std::string write(const std::string& value) { return value; }
};

template <>
struct option_type<host_port> {
    static std::optional<host_port> read(std::string_view text, const option&)
    {
        return parse_host_port(text);
    }
    static std::string rule(const option&)
    {
        return "HOST:PORT with a port from 0 to 65535, such as 127.0.0.1:8080 or [::1]:0";
    }
    static std::string write(const host_port& value) { return format_host_port(value); }
};

template <>
struct option_type<host_name> {
    static std::optional<host_name> read(std::string_view text, const option&)
    {
        return parse_host_name(text);
    }
    static std::string rule(const option&)
    {
        return "a host without a port, such as chat.example.com or [fd00::7], or *";
    }
    static std::string write(const host_name& value) { return value.text; }
};

template <>
struct option_type<base_url> {
    static std::optional<base_url> read(std::string_view text, const option&) { return parse_base_url(text); }
    static std::string rule(const option&)
    {
        return "an http or https URL without query and fragment, such as https://files.example.com";
    }
    static std::string write(const base_url& value) { return value.text; }
};

template <class Enum>
struct enum_names;

template <>
struct enum_names<log_level> {
    static constexpr std::array<std::string_view, 4> by_value{"debug", "info", "warn", "error"};
};

template <>
struct enum_names<registration_policy> {
    static constexpr std::array<std::string_view, 3> by_value{"auto", "open", "admin"};
};

template <>
struct enum_names<peer_policy> {
    static constexpr std::array<std::string_view, 2> by_value{"closed", "open"};
};

template <>
struct enum_names<acked_content> {
    static constexpr std::array<std::string_view, 2> by_value{"off", "until-sweep"};
};

template <>
struct enum_names<web_page> {
    static constexpr std::array<std::string_view, 2> by_value{"off", "on"};
};

template <>
struct enum_names<content_home> {
    static constexpr std::array<std::string_view, 4> by_value{"auto", "inline", "directory", "s3"};
};

template <>
struct enum_names<callback_net> {
    static constexpr std::array<std::string_view, 2> by_value{"loopback", "private"};
};

template <class Enum>
    requires std::is_enum_v<Enum>
struct option_type<Enum> {
    static constexpr const auto& names = enum_names<Enum>::by_value;
    static std::optional<Enum> read(std::string_view text, const option&)
    {
        for (std::size_t i = 0; i < names.size(); ++i)
            if (names[i] == text)
                return static_cast<Enum>(i);
        return std::nullopt;
    }
    static std::string rule(const option&)
    {
        std::string out = "one of";
        for (const auto name : names)
            out += ' ' + std::string(name);
        return out;
    }
    static std::string write(Enum value) { return std::string(names[static_cast<std::size_t>(value)]); }
};

// Lists of texts are web origins.
struct origin_type {
    static std::optional<std::string> read(std::string_view text, const option&)
    {
        return is_origin(text) ? std::optional<std::string>(text) : std::nullopt;
    }
    static std::string rule(const option&)
    {
        return "an origin without a path, such as https://chat.example.com, or *";
    }
    static std::string write(const std::string& value) { return value; }
};

template <class T>
struct option_type<std::vector<T>> {
    using element = std::conditional_t<std::is_same_v<T, std::string>, origin_type, option_type<T>>;
    static std::optional<T> read(std::string_view text, const option& o) { return element::read(text, o); }
    static std::string rule(const option& o) { return element::rule(o); }
    static std::string write(const std::vector<T>& list)
    {
        std::string out;
        for (const auto& value : list)
            out += (out.empty() ? "" : ",") + element::write(value);
        return out;
    }
};

}  // namespace restante
