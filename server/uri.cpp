#include "server/uri.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include <algorithm>

namespace restante {

namespace urls = boost::urls;

namespace {

bool is_printable_ascii(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

// A segment means only itself: not the place where we are, and not the way up.
bool has_dot_segment(std::string_view path)
{
    while (!path.empty()) {
        path.remove_prefix(1);  // the slash
        const auto segment = path.substr(0, path.find('/'));
        if (segment == "." || segment == "..")
            return true;
        path.remove_prefix(segment.size());
    }
    return false;
}

result<std::string> decode_path(urls::pct_string_view encoded)
{
    if (encoded.empty())
        return std::string("/");
    const std::string path = encoded.decode();
    // A slash that was encoded was not meant to separate.
    const auto slashes = std::count(encoded.begin(), encoded.end(), '/');
    if (std::count(path.begin(), path.end(), '/') != slashes || path.find('\\') != std::string::npos)
        return RESTANTE_ERROR(errc::bad_request);
    if (!is_printable_ascii(path) || has_dot_segment(path))
        return RESTANTE_ERROR(errc::bad_request);
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

result<query_params> query_params::decode(const boost::urls::url_view& url)
{
    query_params query;
    const auto params = url.encoded_params();
    if (params.size() > max_params)
        return RESTANTE_ERROR(errc::bad_request);
    const urls::encoding_opts as_in_forms(true);
    query.params_.reserve(params.size());
    for (const auto each : params)
        query.params_.push_back({each.key.decode(as_in_forms), each.value.decode(as_in_forms)});
    return query;
}

result<request_target> parse_request_target(std::string_view target)
{
    if (target == "*")
        return request_target{"*", {}};
    const auto url =
        target.starts_with('/') ? urls::parse_origin_form(target) : urls::parse_absolute_uri(target);
    if (!url || url->has_authority() == target.starts_with('/'))
        return RESTANTE_ERROR(errc::bad_request);
    auto path = decode_path(url->encoded_path());
    if (!path)
        return path.error();
    auto query = query_params::decode(*url);
    if (!query)
        return query.error();
    return request_target{std::move(*path), std::move(*query)};
}

}  // namespace restante
