#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace restante {

// Figures as people read them.
std::string in_words(std::chrono::seconds age);                               // "2 h 13 min", "45 s"
std::string in_bytes(std::int64_t bytes);                                     // "310 MiB", "12 bytes"
std::string with_separators(std::int64_t number);                             // "1,204,000"
std::string counted(std::int64_t number, const char* one, const char* many);  // "1 file", "1,204 files"

}  // namespace restante
