#include "manual/completions.hpp"

#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/replace.hpp>

#include <algorithm>

namespace restante::manual {

namespace {

void add_once(std::vector<std::string>& to, std::string word)
{
    if (std::find(to.begin(), to.end(), word) == to.end())
        to.push_back(std::move(word));
}

}  // namespace

value_kind kind_of(const option_entry& o)
{
    if (o.value.empty())
        return value_kind::none;
    if (!o.choices.empty())
        return value_kind::choice;
    if (o.value == "FILE")
        return value_kind::file;
    return o.value == "DIR" ? value_kind::folder : value_kind::text;
}

std::vector<std::string> command_families(const program_entry& program)
{
    std::vector<std::string> out;
    for (const auto& command : program.commands)
        if (const auto space = command.words.find(' '); space != std::string::npos)
            add_once(out, command.words.substr(0, space));
    return out;
}

std::vector<std::string> first_words(const program_entry& program)
{
    std::vector<std::string> out;
    for (const auto& command : program.commands)
        add_once(out, command.words.substr(0, command.words.find(' ')));
    return out;
}

std::vector<std::string> second_words(const program_entry& program, const std::string& family)
{
    std::vector<std::string> out;
    for (const auto& command : program.commands)
        if (command.words.starts_with(family + ' '))
            out.push_back(command.words.substr(family.size() + 1));
    return out;
}

std::string first_sentence(const std::string& text)
{
    std::string out = text.substr(0, std::min(text.find(". "), text.find(" [default")));
    if (out.ends_with('.'))
        out.pop_back();
    return out;
}

std::string shell_quoted(const std::string& text, const char* quote_inside)
{
    return '\'' + boost::replace_all_copy(text, "'", quote_inside) + '\'';
}

std::string function_name(const program_entry& program)
{
    return '_' + boost::replace_all_copy(program.name, "-", "_");
}

std::string joined(const std::vector<std::string>& words, const char* between)
{
    return boost::join(words, between);
}

}  // namespace restante::manual
