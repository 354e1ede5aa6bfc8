#pragma once

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>

namespace restante {

// A file with this text, removed at the end of the test.
class temporary_file {
public:
    explicit temporary_file(std::string_view text)
    {
        const int file = ::mkstemp(path_.data());
        if (file < 0)
            throw std::runtime_error("no temporary file");
        ::close(file);
        std::ofstream(path_, std::ios::binary) << text;
    }
    ~temporary_file() { ::unlink(path_.c_str()); }
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;

    const std::string& path() const { return path_; }

private:
    std::string path_ = "/tmp/restante-test-XXXXXX";
};

}  // namespace restante
