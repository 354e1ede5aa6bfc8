#include "http/multipart/content_disposition.hpp"

#include "core/text.hpp"
#include "http/multipart/parameters.hpp"

#include <algorithm>

namespace restante::multipart {

namespace {

constexpr std::size_t max_raw_filename = 255;

}  // namespace

result<content_disposition> parse_content_disposition(std::string_view value)
{
    using namespace std::string_view_literals;
    const auto end_of_type = std::min(value.find(';'), value.size());
    const bool form_data = iequals(trim_blanks(value.substr(0, end_of_type)), "form-data");
    if (!form_data || value.find_first_of("\r\n\0"sv) != std::string_view::npos)
        return RESTANTE_ERROR(errc::malformed_multipart);

    auto parameters = parse_parameters(value.substr(end_of_type));
    if (!parameters)
        return parameters.error();
    std::optional<std::string> field_name;
    std::optional<std::string> filename;
    for (auto& [name, given] : *parameters) {
        auto* target = iequals(name, "name") ? &field_name : iequals(name, "filename") ? &filename : nullptr;
        if (!target)
            continue;
        if (*target)
            return RESTANTE_ERROR(errc::malformed_multipart);
        *target = std::move(given);
    }
    if (!field_name || (filename && filename->size() > max_raw_filename))
        return RESTANTE_ERROR(errc::malformed_multipart);
    return content_disposition{std::move(*field_name), std::move(filename)};
}

}  // namespace restante::multipart
