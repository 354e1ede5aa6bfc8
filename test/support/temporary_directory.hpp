#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace restante::test {

// A directory under /tmp that everybody may traverse, as the user postgres must when root runs the tests.
// Removed by the destructor.
class temporary_directory {
public:
    temporary_directory()
    {
        char name[] = "/tmp/restante-unit-XXXXXX";
        if (!::mkdtemp(name))
            throw std::runtime_error("cannot make a temporary directory");
        path_ = name;
        std::filesystem::permissions(path_, std::filesystem::perms(0755));
    }
    ~temporary_directory()
    {
        std::error_code ec;
        std::filesystem::remove_all(path_, ec);
    }
    temporary_directory(const temporary_directory&) = delete;
    temporary_directory& operator=(const temporary_directory&) = delete;

    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace restante::test
