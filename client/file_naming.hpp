#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace restante::client {

// A name on disk for what the server calls a file, whatever that is: the sanitized form (core/file_names),
// which has no slash and is neither `.` nor `..`; not hidden, because nobody expects a file that `ls` does
// not show, and a shell's start file must not come by mail; not a device of Windows.
std::string safe_name(std::string_view from_server);

// `report.pdf`, `report (2).pdf`, `report (3).pdf` …
std::string numbered_name(std::string_view name, unsigned number);

// Finds names that are free. Those that it has given out count as taken until they are released.
class free_names {
public:
    using exists = std::function<bool(const std::string& name)>;

    std::string reserve(const std::string& wanted, const exists& taken);
    void release(const std::string& name) { reserved_.erase(name); }

private:
    std::unordered_set<std::string> reserved_;
    // Where the last search for a name ended, so that the thousandth file of one name is found at once.
    std::unordered_map<std::string, unsigned> last_number_;
};

}  // namespace restante::client
