#include "storage/content/s3/request.hpp"

namespace restante::s3 {

client_request make_request(const bucket_place& place, const key_pair& keys, const call& what,
                            std::chrono::sys_seconds now)
{
    std::string path = place.endpoint.path;
    while (path.ends_with('/'))
        path.pop_back();
    path += '/' + encode_path(place.bucket);
    if (!what.object.empty())
        path += '/' + encode_path(what.object);
    const auto query = encode_query(what.query);
    const auto host = place.endpoint.origin.authority();
    const auto date = amz_date(now);

    signed_parts parts{.method = std::string_view(to_string(what.method)),
                       .path = path,
                       .query = query,
                       .fields = {},
                       .payload = what.payload};
    if (!what.content_md5.empty())
        parts.fields.emplace_back("content-md5", what.content_md5);
    parts.fields.emplace_back("host", host);
    if (!what.range.empty())
        parts.fields.emplace_back("range", what.range);
    parts.fields.emplace_back("x-amz-content-sha256", what.payload);
    parts.fields.emplace_back("x-amz-date", date);

    client_request request{.to = place.endpoint.origin, .method = what.method, .target = path, .fields = {}};
    if (!query.empty())
        request.target += '?' + query;
    for (const auto& [name, value] : parts.fields)
        if (name != "host")
            request.fields.push_back({name, std::string(value)});
    request.fields.push_back({"authorization", authorization(keys, place.region, date, parts)});
    return request;
}

}  // namespace restante::s3
