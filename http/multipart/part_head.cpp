#include "http/multipart/part_head.hpp"

#include "core/text.hpp"
#include "http/multipart/content_disposition.hpp"

namespace restante::multipart {

namespace {

struct header_fields {
    std::optional<std::string_view> disposition;
    std::optional<std::string_view> content_type;
    std::optional<std::string_view> transfer_encoding;

    std::optional<std::string_view>* find(std::string_view name)
    {
        if (iequals(name, "Content-Disposition"))
            return &disposition;
        if (iequals(name, "Content-Type"))
            return &content_type;
        if (iequals(name, "Content-Transfer-Encoding"))
            return &transfer_encoding;
        return nullptr;
    }
};

// A name must be a token right up to its colon, which also rejects folded lines: they begin with a blank.
result<void> read_line(header_fields& fields, std::string_view line)
{
    const auto colon = line.find(':');
    const auto name = line.substr(0, colon);
    if (colon == std::string_view::npos || !is_token(name))
        return RESTANTE_ERROR(errc::malformed_multipart);
    if (auto* field = fields.find(name)) {
        if (*field)
            return RESTANTE_ERROR(errc::malformed_multipart);
        *field = trim_blanks(line.substr(colon + 1));
    }
    return {};
}

bool leaves_bytes_alone(std::string_view transfer_encoding)
{
    return iequals(transfer_encoding, "binary") || iequals(transfer_encoding, "8bit") ||
           iequals(transfer_encoding, "7bit");
}

}  // namespace

result<part_head> parse_part_head(std::string_view lines)
{
    header_fields fields;
    while (!lines.empty()) {
        const auto end = lines.find("\r\n");
        if (end == std::string_view::npos)
            return RESTANTE_ERROR(errc::malformed_multipart);
        if (auto read = read_line(fields, lines.substr(0, end)); !read)
            return read.error();
        lines.remove_prefix(end + 2);
    }

    const bool encoded = fields.transfer_encoding && !leaves_bytes_alone(*fields.transfer_encoding);
    const bool nested = fields.content_type && istarts_with(*fields.content_type, "multipart/");
    if (!fields.disposition || encoded || nested)
        return RESTANTE_ERROR(errc::malformed_multipart);

    auto disposition = parse_content_disposition(*fields.disposition);
    if (!disposition)
        return disposition.error();
    return part_head{std::move(disposition->name), std::move(disposition->filename),
                     std::string(fields.content_type.value_or(""))};
}

}  // namespace restante::multipart
