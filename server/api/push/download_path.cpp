#include "server/api/push/download_path.hpp"

#include "core/text.hpp"

#include <boost/url/encode.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>

#include <algorithm>
#include <array>

namespace restante {

namespace {

constexpr std::array<std::string_view, 4> roots{"/configs", "/workspace", "/home", "/plugins"};

refusal bad(std::string sentence)
{
    return {errc::bad_request, std::move(sentence)};
}

answerable<std::string> path_parameter(std::string_view request_target)
{
    const auto url = boost::urls::parse_uri_reference(request_target);
    std::string path;
    if (!url)
        return path;
    int given = 0;
    for (const auto param : url->params()) {
        if (param.key != "path")
            continue;
        path = param.value;
        ++given;
    }
    if (given > 1)
        return bad("path must be given once");
    return path;
}

bool is_under(std::string_view path, std::string_view root)
{
    return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

// No empty, `.` or `..` segment, no slash at the end, no control characters.
bool is_canonical(std::string_view path)
{
    if (std::any_of(path.begin(), path.end(), is_ascii_control))
        return false;
    for (std::size_t begin = 1; begin <= path.size();) {
        const auto end = std::min(path.find('/', begin), path.size());
        const auto segment = path.substr(begin, end - begin);
        if (segment.empty() || segment == "." || segment == "..")
            return false;
        begin = end + 1;
    }
    return true;
}

}  // namespace

answerable<std::string> read_download_path(std::string_view request_target)
{
    const auto path = path_parameter(request_target);
    if (!path)
        return path.error();
    if (path->empty())
        return bad("path query required");
    if (path->front() != '/')
        return bad("path must be absolute");
    const auto holds = [&path](std::string_view root) { return is_under(*path, root); };
    if (std::none_of(roots.begin(), roots.end(), holds))
        return bad("path must be under /configs, /workspace, /home or /plugins");
    if (!is_canonical(*path))
        return bad("invalid path");
    return boost::urls::encode(*path, boost::urls::unreserved_chars + '/');
}

}  // namespace restante
