#pragma once

#include "client/failure.hpp"
#include "core/unique_fd.hpp"

#include <string>
#include <string_view>

namespace restante::client {

// What the system says about a file. `disk_full` and `directory_gone` pass, when somebody makes room or the
// directory comes back; the rest is `io_error`.
failure disk_failure(std::string_view what, int error);

outcome<unique_fd> open_directory(const std::string& path);
// For this user alone; its entry in the parent is synced.
outcome<void> make_directory(const std::string& path);
// With all parents.
outcome<void> make_directories(const std::string& path);
outcome<void> sync(int fd, std::string_view what);
// A new file that will replace another one in one step, readable by this user alone. It is made, with room
// for its text, before the text is known: text that can be had only once finds its place.
class replacement {
public:
    // The directory must stay open.
    static outcome<replacement> make(int directory, const std::string& name, std::size_t room);
    replacement(replacement&&) = default;
    replacement& operator=(replacement&&) = delete;
    // Takes it away if it was not committed.
    ~replacement();

    // Synced. When only the last step fails, the text is in NAME.new.
    outcome<void> commit(std::string_view text);

private:
    replacement(int directory, const std::string& name, unique_fd file);

    int directory_;
    std::string name_;
    std::string fresh_;
    unique_fd file_;  // until it is committed
};

// The same in one go.
outcome<void> replace_file(int directory, const std::string& name, std::string_view text);
// The whole text; empty if there is no such file.
outcome<std::string> read_whole(int directory, const std::string& name);
outcome<void> write_all(int fd, std::string_view bytes, std::string_view what);

// False when somebody else holds the lock.
outcome<bool> lock(int fd, std::string_view what);

}  // namespace restante::client
