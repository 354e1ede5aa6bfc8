#include "client/reporter.hpp"

#include "client/disk.hpp"
#include "client/plain_json.hpp"
#include "client/terminal_text.hpp"

#include <boost/json/serialize.hpp>

namespace restante::client {

namespace {

constexpr std::size_t longest_line = 4000;

}  // namespace

void reporter::put_line(int fd, std::string line)
{
    progress_.erase();
    line += '\n';
    if (!write_all(fd, line, "") && fd == STDOUT_FILENO)
        unheard_ = true;
}

void reporter::put_json(std::string_view event, std::string_view code, boost::json::object fields)
{
    boost::json::object line;
    line["event"] = event;
    line["code"] = code;
    // Members of the server's objects are told as they are, except in place of these two.
    for (auto& [name, value] : fields)
        line.emplace(name, std::move(value));
    make_plain(line);
    put_line(STDOUT_FILENO, boost::json::serialize(line));
}

void reporter::data(std::string_view event, boost::json::object fields, std::string_view text)
{
    if (json_)
        put_json(event, "ok", std::move(fields));
    else
        put_line(STDOUT_FILENO, std::string(text));
}

void reporter::note(std::string_view event, boost::json::object fields, std::string_view text)
{
    if (json_)
        put_json(event, "ok", std::move(fields));
    else if (!text.empty())
        put_line(STDERR_FILENO, "restante: " + printable(text, longest_line));
}

void reporter::trouble(std::string_view event, const failure& why, boost::json::object fields,
                       std::string_view then)
{
    if (json_) {
        fields["error"] = why.text;
        if (why.status != 0)
            fields["status"] = why.status;
        if (!why.details.empty())
            fields["details"] = why.details;
        put_json(event, why.code, std::move(fields));
    } else {
        // Names of files and words of the server are in it, and stderr may be a terminal.
        put_line(STDERR_FILENO, "restante: " + printable(why.text, longest_line) + (then.empty() ? "" : " ") +
                                    std::string(then));
    }
}

exit_code reporter::fail(const failure& why)
{
    trouble("failed", why);
    return why.exit;
}

}  // namespace restante::client
