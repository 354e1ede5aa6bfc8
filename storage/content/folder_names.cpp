#include "storage/content/folder_names.hpp"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <string_view>
#include <unistd.h>

namespace restante {

int read_names(int folder, std::vector<std::string>& out)
{
    // Its own open file, because several threads may read the same folder.
    const int descriptor = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return errno;
    const auto close = [](DIR* open) { ::closedir(open); };
    const std::unique_ptr<DIR, decltype(close)> entries(::fdopendir(descriptor), close);
    if (!entries) {
        const int error = errno;
        ::close(descriptor);
        return error;
    }
    errno = 0;
    while (const dirent* entry = ::readdir(entries.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..")
            out.emplace_back(name);
    }
    std::sort(out.begin(), out.end());
    return errno;
}

}  // namespace restante
