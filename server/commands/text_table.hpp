#pragma once

#include "core/clock.hpp"

#include <initializer_list>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace restante {

// Columns for people to read, each as wide as its widest cell. Control characters become '?', so that a name
// that came from outside cannot control the terminal.
class text_table {
public:
    explicit text_table(std::initializer_list<std::string> headings) : rows_{headings} {}

    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    void print(std::ostream& out) const;

private:
    std::vector<std::vector<std::string>> rows_;
};

// Cells for what may not be there.
inline std::string cell(const std::optional<timestamp>& when)
{
    return when ? rfc3339(*when) : "-";
}
inline std::string cell(const std::optional<std::string>& text)
{
    return text.value_or("-");
}

}  // namespace restante
