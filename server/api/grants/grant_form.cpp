#include "server/api/grants/grant_form.hpp"

#include "server/api/common/field_reader.hpp"
#include "server/api/common/type_patterns.hpp"

#include <algorithm>

namespace restante {

answerable<grant_request> read_grant_request(const boost::json::value& body)
{
    field_reader fields(body);
    grant_request read;
    auto& limit = read.terms.limit;
    if (const auto seconds = fields.whole("expires_in", 1, longest_grant_life.count()))
        read.lifetime = std::chrono::seconds(*seconds);
    limit.requests = fields.whole("max_requests", 1, most_grant_requests).value_or(limit.requests);
    limit.files = fields.whole("max_files", 1, most_grant_files).value_or(limit.files);
    limit.bytes = fields.whole("max_bytes", 1, most_grant_bytes).value_or(limit.bytes);
    read.terms.types = fields.texts("types", most_grant_types);
    if (!std::all_of(read.terms.types.begin(), read.terms.types.end(), is_type_pattern))
        fields.refuse("types must be media types such as image/png or image/*");
    read.note = fields.line("note");
    if (fields.refused())
        return *fields.refused();
    return read;
}

}  // namespace restante
