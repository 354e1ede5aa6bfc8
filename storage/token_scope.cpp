#include "storage/token_scope.hpp"

namespace restante {

std::string_view to_string(token_scope scope) noexcept
{
    switch (scope) {
        case token_scope::full: return "full";
        case token_scope::upload: return "upload";
        case token_scope::read: return "read";
        case token_scope::grant: return "grant";
    }
    return "";
}

std::optional<token_scope> parse_token_scope(std::string_view text) noexcept
{
    using enum token_scope;
    for (const auto scope : {full, upload, read, grant})
        if (text == to_string(scope))
            return scope;
    return std::nullopt;
}

}  // namespace restante
