#include "http/message/request_target.hpp"

#include "core/text.hpp"
#include "core/utf8.hpp"
#include "http/message/field_grammar.hpp"

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

// What people search for may be in any script.
bool is_printable_utf8(std::string_view text)
{
    return is_utf8(text) && std::none_of(text.begin(), text.end(), is_ascii_control);
}

// `.` and `..` are refused, not resolved.
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
    std::string path = encoded.decode();
    // An encoded slash was not meant as a separator.
    const auto slashes = std::count(encoded.begin(), encoded.end(), '/');
    if (std::count(path.begin(), path.end(), '/') != slashes || path.find('\\') != std::string::npos)
        return RESTANTE_ERROR(errc::bad_request);
    if (!is_printable_ascii(path) || has_dot_segment(path))
        return RESTANTE_ERROR(errc::bad_request);
    return path;
}

// Neither escapes nor characters that mean anything but themselves, which is what our own clients send.
constexpr bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

bool is_plain_path(std::string_view path)
{
    const auto allowed = [](char c) { return is_plain(c) || c == '/'; };
    return path.find("//") == std::string_view::npos && std::all_of(path.begin(), path.end(), allowed);
}

bool is_plain_query(std::string_view query)
{
    const auto allowed = [](char c) { return is_plain(c) || c == '=' || c == '&'; };
    return !query.empty() && std::all_of(query.begin(), query.end(), allowed);
}

// Most targets need no parser of URLs, which costs more than the rest of their head. Nothing for the others.
std::optional<result<request_target>> parse_plain(std::string_view target)
{
    const auto mark = target.find('?');
    const auto path = target.substr(0, mark);
    if (!is_plain_path(path))
        return std::nullopt;
    if (mark == std::string_view::npos)
        return request_target{std::string(path), {}};
    const auto query = target.substr(mark + 1);
    if (!is_plain_query(query))
        return std::nullopt;
    auto params = query_params::split(query);
    if (!params)
        return params.error();
    return request_target{std::string(path), std::move(*params)};
}

// Boost.URL 1.81 parses this form well. It is not used for absolute ones, where it takes `http://[::1].a` for
// the path `.a` and fails an assertion of its own on others.
result<request_target> parse_origin_form(std::string_view target)
{
    if (auto plain = parse_plain(target))
        return std::move(*plain);
    const auto url = urls::parse_origin_form(target);
    if (!url)
        return RESTANTE_ERROR(errc::bad_request);
    auto path = decode_path(url->encoded_path());
    if (!path)
        return path.error();
    auto query = query_params::decode(*url);
    if (!query)
        return query.error();
    return request_target{std::move(*path), std::move(*query)};
}

}  // namespace

result<std::optional<std::string_view>> query_params::get(std::string_view name) const
{
    std::optional<std::string_view> found;
    for (const auto& each : params_) {
        if (each.name != name)
            continue;
        if (found || !is_printable_utf8(each.value))
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

result<query_params> query_params::split(std::string_view plain)
{
    query_params query;
    for (bool more = true; more;) {
        const auto end = plain.find('&');
        const auto each = plain.substr(0, end);
        more = end != std::string_view::npos;
        plain.remove_prefix(more ? end + 1 : plain.size());
        if (query.params_.size() == max_params)
            return RESTANTE_ERROR(errc::bad_request);
        const auto equals = std::min(each.find('='), each.size());
        query.params_.push_back({std::string(each.substr(0, equals)),
                                 std::string(each.substr(std::min(equals + 1, each.size())))});
    }
    return query;
}

std::optional<absolute_target> split_absolute_target(std::string_view target) noexcept
{
    const auto scheme_end = target.find("://");
    if (scheme_end == std::string_view::npos)
        return std::nullopt;
    const auto scheme = target.substr(0, scheme_end);
    if (!iequals(scheme, "http") && !iequals(scheme, "https"))
        return std::nullopt;
    target.remove_prefix(scheme_end + 3);
    const auto authority = target.substr(0, target.find_first_of("/?#"));
    return absolute_target{authority, target.substr(authority.size())};
}

result<request_target> parse_request_target(std::string_view target)
{
    if (target == "*")
        return request_target{"*", {}};
    if (target.starts_with('/'))
        return parse_origin_form(target);
    const auto absolute = split_absolute_target(target);
    if (!absolute || !is_host_and_port(absolute->authority))
        return RESTANTE_ERROR(errc::bad_request);
    if (absolute->rest.starts_with('/'))
        return parse_origin_form(absolute->rest);
    return parse_origin_form('/' + std::string(absolute->rest));
}

}  // namespace restante
