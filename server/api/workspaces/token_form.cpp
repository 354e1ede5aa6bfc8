#include "server/api/workspaces/token_form.hpp"

#include "server/api/common/field_reader.hpp"

namespace restante {

std::optional<token_scope> parse_requested_scope(std::string_view text)
{
    const auto scope = parse_token_scope(text);
    return scope == token_scope::grant ? std::nullopt : scope;
}

answerable<token_request> read_token_request(const boost::json::value& body)
{
    field_reader fields(body);
    token_request read;
    if (const auto text = fields.line("scope")) {
        const auto scope = parse_requested_scope(*text);
        if (!scope)
            fields.refuse("scope must be full, upload or read");
        read.scope = scope.value_or(token_scope::full);
    }
    read.name = fields.line("name");
    if (const auto seconds = fields.whole("expires_in", 1, longest_token_life.count()))
        read.lifetime = std::chrono::seconds(*seconds);
    if (fields.refused())
        return *fields.refused();
    return read;
}

}  // namespace restante
