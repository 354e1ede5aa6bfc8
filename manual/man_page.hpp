#pragma once

#include <string>
#include <string_view>

namespace restante::manual {

// One manual page in the man(7) macros. Text is plain English: `words` in backquotes and --flags become bold,
// everything that means something to roff is escaped, and each sentence begins on a line of its own.
class man_page {
public:
    man_page(std::string_view name, int section, std::string_view date, std::string_view version);

    man_page& section(std::string_view title);
    man_page& subsection(std::string_view title);
    // The line that whatis(1) lists.
    man_page& name(std::string_view name, std::string_view summary);
    man_page& paragraph(std::string_view text);
    // A term, already marked up, and what it means.
    man_page& item(std::string_view term, std::string_view meaning);
    man_page& code(std::string_view text);
    man_page& line(std::string_view roff);  // as it is

    const std::string& text() const { return text_; }

private:
    std::string text_;
    bool after_heading_ = true;
};

// The text as roff shows it.
std::string escaped(std::string_view text);
std::string bold(std::string_view text);
std::string italic(std::string_view text);

}  // namespace restante::manual
