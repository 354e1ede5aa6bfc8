#include "auth/bearer.hpp"

#include <algorithm>

namespace restante {

namespace {

constexpr std::size_t max_token = 512;
constexpr std::size_t workspace_token = 43;

constexpr char to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr bool is_visible(char c)
{
    return c > 0x20 && c < 0x7F;
}

constexpr bool is_base64url(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

bool says_bearer(std::string_view scheme)
{
    constexpr std::string_view name = "bearer";
    return std::equal(scheme.begin(), scheme.end(), name.begin(), name.end(),
                      [](char theirs, char ours) { return to_lower(theirs) == ours; });
}

}  // namespace

bearer parse_bearer(std::string_view authorization) noexcept
{
    const auto space = authorization.find(' ');
    if (space == std::string_view::npos || !says_bearer(authorization.substr(0, space)))
        return {};
    const auto start = authorization.find_first_not_of(' ', space);
    if (start == std::string_view::npos)
        return {};
    const auto token = authorization.substr(start);
    if (token.size() > max_token || !std::all_of(token.begin(), token.end(), is_visible))
        return {bearer_kind::malformed, {}};
    return {bearer_kind::token, token};
}

bool looks_like_workspace_token(std::string_view token) noexcept
{
    return token.size() == workspace_token && std::all_of(token.begin(), token.end(), is_base64url);
}

}  // namespace restante
