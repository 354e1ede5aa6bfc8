#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace restante {

// Appends the text in lines of at most 100 characters that start at this column; the first line is already
// there. A bracketed text is not broken.
void append_wrapped(std::string& out, std::string_view text, std::size_t column);

// Two columns: names on the left, descriptions on the right.
class two_columns {
public:
    void add(std::string left, std::string right);
    std::size_t widest() const { return widest_; }
    void print(std::string& out, std::size_t left_width) const;

private:
    std::vector<std::pair<std::string, std::string>> rows_;
    std::size_t widest_ = 0;
};

// "--into DIR"; a switch has no value name.
std::string flag_text(std::string_view flag, std::string_view value_name);

}  // namespace restante
