#pragma once

#include <span>
#include <string_view>

namespace restante {

// A file of web/ as it was when the binary was built.
struct web_file {
    std::string_view name;  // below web/
    std::string_view media_type;
    std::string_view sha256;
    std::span<const unsigned char> plain;
    std::span<const unsigned char> packed;  // by gzip
};

// index.html first, then the others in name order.
std::span<const web_file> web_files();

// A hash of all of them, which stands in the address of each but the first: /assets/<build>/<name>.
std::string_view web_build();

}  // namespace restante
