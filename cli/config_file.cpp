#include "cli/config_file.hpp"

#include "cli/config_values.hpp"
#include "cli/suggest.hpp"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace restante {

namespace {

constexpr std::size_t largest_text = 1 << 20;

std::string unknown_key(const std::string& key, const std::string& path)
{
    std::vector<std::string_view> known;
    for (const auto& o : option_table())
        known.push_back(o.flag);
    std::string message = "There is no setting \"" + key + "\" (in " + path + ")";
    if (const auto meant = nearest(key, known); !meant.empty())
        message += "; did you mean " + std::string(meant) + "?";
    else
        message += '.';
    return message;
}

std::string_view trim(std::string_view text)
{
    constexpr std::string_view white = " \t\r";
    const auto first = text.find_first_not_of(white);
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(white) - first + 1);
}

// Takes the first line off the text and returns it without its comment and the white space around it.
std::string_view take_line(std::string_view& text)
{
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return trim(line.substr(0, line.find('#')));
}

}  // namespace

bool fits_config_line(std::string_view value)
{
    return value.find_first_of("#\n") == std::string_view::npos && trim(value) == value;
}

result<std::string> read_small_file(const std::string& path)
{
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return error_code(errno, boost::system::system_category());
    std::string text(largest_text + 1, '\0');
    std::size_t size = 0;
    ssize_t n = 0;
    while (size < text.size() && (n = ::read(file, text.data() + size, text.size() - size)) > 0)
        size += static_cast<std::size_t>(n);
    const error_code ec(n < 0 ? errno : 0, boost::system::system_category());
    ::close(file);
    if (ec)
        return ec;
    if (size > largest_text)
        return error_code(EFBIG, boost::system::system_category());
    text.resize(size);
    return text;
}

boost::system::result<config_lines, setting_error> read_config_file(const std::string& path)
{
    auto lines = read_config_lines(path);
    if (lines)
        for (const auto& [key, value] : *lines)
            if (const option* known = find_option(key); !known || known->flag == "config")
                return setting_error{unknown_key(key, path)};
    return lines;
}

boost::system::result<config_lines, setting_error> read_config_lines(const std::string& path)
{
    const auto text = read_small_file(path);
    if (!text)
        return setting_error{"The config file " + path + " cannot be read: " + text.error().message() + "."};

    config_lines lines;
    std::string_view rest = *text;
    for (std::size_t number = 1; !rest.empty(); ++number) {
        const auto line = take_line(rest);
        if (line.empty())
            continue;
        const auto equals = line.find('=');
        if (equals == std::string_view::npos)
            return setting_error{"The config file " + path + " cannot be understood: line " +
                                 std::to_string(number) + " is not `key = value`: " + in_quotes(line) + "."};
        lines.emplace_back(trim(line.substr(0, equals)), trim(line.substr(equals + 1)));
    }
    return lines;
}

}  // namespace restante
