#include "cli/config_file.hpp"

#include "cli/suggest.hpp"

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>

#include <cerrno>
#include <fcntl.h>
#include <sstream>
#include <unistd.h>

namespace restante {

namespace {

namespace po = boost::program_options;

constexpr std::size_t largest_file = 1 << 20;

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

}  // namespace

result<std::string> read_small_file(const std::string& path)
{
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return error_code(errno, boost::system::system_category());
    std::string text(largest_file + 1, '\0');
    std::size_t size = 0;
    ssize_t n = 0;
    while (size < text.size() && (n = ::read(file, text.data() + size, text.size() - size)) > 0)
        size += static_cast<std::size_t>(n);
    const error_code ec(n < 0 ? errno : 0, boost::system::system_category());
    ::close(file);
    if (ec)
        return ec;
    if (size > largest_file)
        return error_code(EFBIG, boost::system::system_category());
    text.resize(size);
    return text;
}

boost::system::result<config_lines, setting_error> read_config_file(const std::string& path)
{
    const auto text = read_small_file(path);
    if (!text)
        return setting_error{"The config file " + path + " cannot be read: " + text.error().message() + "."};

    // No options are declared to the parser, so it returns every key; the option table validates them.
    const po::options_description nothing;
    config_lines lines;
    try {
        std::istringstream in(*text);
        for (const auto& line : po::parse_config_file(in, nothing, true).options) {
            const option* known = find_option(line.string_key);
            if (!known || known->flag == "config")
                return setting_error{unknown_key(line.string_key, path)};
            lines.emplace_back(line.string_key, line.value.empty() ? "" : line.value.front());
        }
    } catch (const po::error& e) {
        return setting_error{"The config file " + path + " cannot be understood: " + e.what() + "."};
    }
    return lines;
}

}  // namespace restante
