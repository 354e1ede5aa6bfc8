#pragma once

#include "client/failure.hpp"
#include "client/progress_display.hpp"

#include <boost/json/object.hpp>

namespace restante::client {

// Everything that a command says. For people: data on stdout, the rest on stderr. With --json: each of them
// one line on stdout, with a stable "event" and "code"; docs/client.md lists them.
class reporter {
public:
    explicit reporter(bool json) : json_(json), progress_(!json) {}

    // What the command is for: a file, a message, a URI.
    void data(std::string_view event, boost::json::object fields, std::string_view text);
    // What is good to know.
    void note(std::string_view event, boost::json::object fields, std::string_view text);
    // What went wrong.
    void trouble(std::string_view event, const failure& why, boost::json::object fields = {},
                 std::string_view then = {});

    // What ends the command.
    exit_code fail(const failure& why);

    // Nobody reads stdout any more.
    bool is_unheard() const { return unheard_; }
    progress_display& progress() { return progress_; }

private:
    void put_line(int fd, std::string line);
    void put_json(std::string_view event, std::string_view code, boost::json::object fields);

    bool json_;
    bool unheard_ = false;
    progress_display progress_;
};

}  // namespace restante::client
