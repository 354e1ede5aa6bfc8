#include "http/message/content_coding.hpp"

#include "http/message/field_grammar.hpp"

namespace restante {

namespace {

// q=0, q=0.0, q=0.000
bool is_refused(std::string_view parameters)
{
    parameters = trim_blanks(parameters);
    if (!parameters.starts_with("q=") && !parameters.starts_with("Q="))
        return false;
    return parameters.substr(2).find_first_not_of("0.") == std::string_view::npos;
}

}  // namespace

bool accepts_gzip(std::string_view accept_encoding) noexcept
{
    bool any = false;
    while (!accept_encoding.empty()) {
        const auto comma = accept_encoding.find(',');
        const auto entry = accept_encoding.substr(0, comma);
        accept_encoding.remove_prefix(comma == std::string_view::npos ? accept_encoding.size() : comma + 1);
        const auto semicolon = entry.find(';');
        const auto name = trim_blanks(entry.substr(0, semicolon));
        const bool wanted = semicolon == std::string_view::npos || !is_refused(entry.substr(semicolon + 1));
        if (iequals(name, "gzip"))
            return wanted;  // named, which is more than *
        if (name == "*")
            any = wanted;
    }
    return any;
}

}  // namespace restante
