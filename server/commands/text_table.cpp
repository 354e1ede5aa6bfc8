#include "server/commands/text_table.hpp"

#include "core/text.hpp"

#include <algorithm>

namespace restante {

namespace {

std::string harmless(std::string cell)
{
    std::replace_if(cell.begin(), cell.end(), is_ascii_control, '?');
    return cell;
}

// Characters, not bytes; as wide as most terminals show them.
std::size_t width_of(const std::string& cell)
{
    const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
    return cell.size() - static_cast<std::size_t>(std::count_if(cell.begin(), cell.end(), continues));
}

}  // namespace

void text_table::print(std::ostream& out) const
{
    std::vector<std::size_t> widths(rows_.front().size());
    for (const auto& row : rows_)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], width_of(row[i]));
    for (const auto& row : rows_) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += harmless(row[i]);
            if (i + 1 < row.size())
                line.append(widths[i] - width_of(row[i]) + 2, ' ');
        }
        out << line << '\n';
    }
}

}  // namespace restante
