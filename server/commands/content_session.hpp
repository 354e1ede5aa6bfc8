#pragma once

#include "cli/command_line.hpp"
#include "core/asio.hpp"
#include "server/app/content_setup.hpp"
#include "storage/content_rows.hpp"

#include <functional>

namespace restante {

// What the commands about content work with.
struct content_session {
    content_rows& rows;
    content_stores& stores;
    const content_setup& setup;
};

// Whether nothing can be read from a store now. A directory that cannot be written may well be read; what
// cannot be read there is a file.
bool is_away(const content_stores& stores, content_place place);

// Opens the database and the stores that the settings name, runs the work and gives its exit code; an error
// that it returns is reported on stderr.
int with_content(const settings& config, std::function<awaitable<result<int>>(content_session)> work);

// A line at the bottom of the terminal that is stderr; nothing on anything else.
class progress_line {
public:
    progress_line(const char* doing, std::int64_t total, bool wanted);
    ~progress_line();
    progress_line(const progress_line&) = delete;
    progress_line& operator=(const progress_line&) = delete;

    void advance();

private:
    const char* doing_;
    std::int64_t total_;
    std::int64_t done_ = 0;
    bool on_;
    std::chrono::steady_clock::time_point drawn_{};
};

}  // namespace restante
