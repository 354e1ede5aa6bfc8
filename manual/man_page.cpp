#include "manual/man_page.hpp"

#include <algorithm>
#include <cctype>

namespace restante::manual {

namespace {

constexpr std::size_t widest_line = 76;

bool is_flag(std::string_view word)
{
    return word.size() > 2 && word.starts_with("--") && std::islower(static_cast<unsigned char>(word[2]));
}

// A flag in running text, without the comma or full stop behind it.
std::string marked_word(std::string_view word)
{
    if (!is_flag(word))
        return escaped(word);
    const auto end = std::find_if_not(word.begin() + 2, word.end(), [](char c) {
        return std::islower(static_cast<unsigned char>(c)) || c == '-';
    });
    const auto length = static_cast<std::size_t>(end - word.begin());
    return bold(word.substr(0, length)) + escaped(word.substr(length));
}

bool ends_sentence(std::string_view word)
{
    return word.ends_with('.') || word.ends_with('?') || word.ends_with(".)");
}

// Words in lines that are not too long; what backquotes enclose is one word.
class line_filler {
public:
    void add(std::string_view word, std::string roff)
    {
        if (!line_.empty() && line_.size() + 1 + roff.size() > widest_line)
            end_line();
        line_ += line_.empty() ? "" : " ";
        line_ += roff;
        if (ends_sentence(word))
            end_line();
    }
    std::string take()
    {
        end_line();
        return std::move(text_);
    }

private:
    void end_line()
    {
        if (line_.empty())
            return;
        // Such a line would be taken for a request.
        if (line_.starts_with('.') || line_.starts_with('\''))
            text_ += "\\&";
        text_ += line_ + '\n';
        line_.clear();
    }

    std::string text_;
    std::string line_;
};

std::string filled(std::string_view text)
{
    line_filler out;
    while (!text.empty()) {
        if (text.front() == ' ') {
            text.remove_prefix(1);
            continue;
        }
        const auto close = text.front() == '`' ? text.find('`', 1) : std::string_view::npos;
        const auto from = close == std::string_view::npos ? 0 : close;
        const auto end = std::min(text.find(' ', from), text.size());
        const auto word = text.substr(0, end);
        if (from > 0)
            out.add(word, bold(word.substr(1, from - 1)) + escaped(word.substr(from + 1)));
        else
            out.add(word, marked_word(word));
        text.remove_prefix(end);
    }
    return out.take();
}

// Long lines of code end with a backslash in the source, and are shown whole.
std::string folded(const std::string& code)
{
    std::string out;
    std::size_t column = 0;
    for (const char c : code) {
        out += c;
        column = c == '\n' ? 0 : column + 1;
        if (c == ' ' && column > widest_line - 20) {
            out += "\\\n";
            column = 0;
        }
    }
    return out;
}

std::string upper(std::string_view text)
{
    std::string out(text);
    for (char& c : out)
        c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return out;
}

}  // namespace

std::string escaped(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else if (c == '\'')
            out += "\\(aq";
        else if (c == '"')
            out += "\\(dq";
        else if (c == '~')
            out += "\\(ti";
        else if (c == '^')
            out += "\\(ha";
        else
            out += c;
    }
    return out;
}

std::string bold(std::string_view text)
{
    return "\\fB" + escaped(text) + "\\fR";
}

std::string italic(std::string_view text)
{
    return "\\fI" + escaped(text) + "\\fR";
}

man_page::man_page(std::string_view name, int section, std::string_view date, std::string_view version)
{
    const auto kind = section == 1 ? "User Commands" : "File Formats";
    text_ = ".\\\" Made from the tables that the program reads its command line with.\n.TH " + upper(name) +
            ' ' + std::to_string(section) + ' ' + std::string(date) + " \"Restante " + std::string(version) +
            "\" \"" + kind + "\"\n";
}

man_page& man_page::section(std::string_view title)
{
    text_ += ".SH " + upper(title) + '\n';
    after_heading_ = true;
    return *this;
}

man_page& man_page::subsection(std::string_view title)
{
    text_ += ".SS " + std::string(title) + '\n';
    after_heading_ = true;
    return *this;
}

man_page& man_page::name(std::string_view name, std::string_view summary)
{
    text_ += escaped(name) + " \\-\n" + filled(summary);
    return *this;
}

man_page& man_page::paragraph(std::string_view text)
{
    if (!after_heading_)
        text_ += ".PP\n";
    text_ += filled(text);
    after_heading_ = false;
    return *this;
}

man_page& man_page::item(std::string_view term, std::string_view meaning)
{
    text_ += ".TP\n" + std::string(term) + '\n' + filled(meaning);
    after_heading_ = false;
    return *this;
}

man_page& man_page::code(std::string_view text)
{
    text_ += (after_heading_ ? "" : ".PP\n") + std::string(".nf\n") + folded(escaped(text)) + "\n.fi\n";
    after_heading_ = false;
    return *this;
}

man_page& man_page::line(std::string_view roff)
{
    text_ += std::string(roff) + '\n';
    after_heading_ = false;
    return *this;
}

}  // namespace restante::manual
