#include "cli/help_text.hpp"

#include <algorithm>

namespace restante {

namespace {

constexpr std::size_t width = 100;

}  // namespace

void append_wrapped(std::string& out, std::string_view text, std::size_t column)
{
    std::size_t at = column;
    while (!text.empty()) {
        const auto space = std::min(text.find(' ', text.front() == '[' ? text.find(']') : 0), text.size());
        const auto word = text.substr(0, space);
        if (at > column && at + 1 + word.size() > width) {
            out += '\n';
            out.append(column, ' ');
            at = column;
        } else if (at > column) {
            out += ' ';
            ++at;
        }
        out += word;
        at += word.size();
        text.remove_prefix(std::min(space + 1, text.size()));
    }
    out += '\n';
}

void two_columns::add(std::string left, std::string right)
{
    widest_ = std::max(widest_, left.size());
    rows_.emplace_back(std::move(left), std::move(right));
}

void two_columns::print(std::string& out, std::size_t left_width) const
{
    for (const auto& [left, right] : rows_) {
        out += "  " + left;
        out.append(left_width - left.size() + 2, ' ');
        append_wrapped(out, right, left_width + 4);
    }
}

std::string flag_text(std::string_view flag, std::string_view value_name)
{
    std::string out = "--" + std::string(flag);
    if (!value_name.empty())
        out += ' ' + std::string(value_name);
    return out;
}

}  // namespace restante
