#include "server/uri.hpp"

#include "server/field_grammar.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/parse_path.hpp>
#include <boost/url/parse_query.hpp>

#include <algorithm>

namespace restante {

namespace urls = boost::urls;

namespace {

bool is_printable_ascii(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

// A segment means only itself: not the way up, not two segments, not something that a log would print as a
// line.
bool is_plain_segment(std::string_view segment)
{
    return segment != "." && segment != ".." && is_printable_ascii(segment) &&
           segment.find_first_of("/\\") == std::string_view::npos;
}

result<std::string> decode_path(std::string_view encoded)
{
    const auto segments = urls::parse_path(encoded);
    if (!segments)
        return RESTANTE_ERROR(errc::bad_request);
    std::string path;
    path.reserve(encoded.size());
    for (const auto segment : *segments) {
        const auto start = path.size() + 1;
        path += '/';
        segment.decode({}, urls::string_token::append_to(path));
        if (!is_plain_segment(std::string_view(path).substr(start)))
            return RESTANTE_ERROR(errc::bad_request);
    }
    if (path.empty())
        path = "/";
    return path;
}

}  // namespace

result<std::optional<std::string_view>> query_params::get(std::string_view name) const
{
    std::optional<std::string_view> found;
    for (const auto& each : params_) {
        if (each.name != name)
            continue;
        if (found || !is_printable_ascii(each.value))
            return RESTANTE_ERROR(errc::bad_request);
        found = each.value;
    }
    return found;
}

result<query_params> parse_query_params(std::string_view encoded)
{
    query_params query;
    if (encoded.empty())
        return query;
    const auto params = urls::parse_query(encoded);
    if (!params || params->size() > query_params::max_params)
        return RESTANTE_ERROR(errc::bad_request);
    const urls::encoding_opts as_in_forms(true);
    query.params_.reserve(params->size());
    for (const auto each : *params)
        query.params_.push_back({each.key.decode(as_in_forms), each.value.decode(as_in_forms)});
    return query;
}

result<request_target> parse_request_target(std::string_view target)
{
    if (target == "*")
        return request_target{"*", {}};
    if (!target.starts_with('/')) {
        const auto absolute = urls::parse_absolute_uri(target);
        if (!absolute || !absolute->has_authority())
            return RESTANTE_ERROR(errc::bad_request);
        target.remove_prefix(absolute->encoded_origin().size());
    }
    const auto question = target.find('?');
    auto path = decode_path(target.substr(0, question));
    if (!path)
        return path.error();
    auto query = parse_query_params(question == std::string_view::npos ? "" : target.substr(question + 1));
    if (!query)
        return query.error();
    return request_target{std::move(*path), std::move(*query)};
}

}  // namespace restante
