#include "client/token.hpp"

#include "client/disk.hpp"
#include "client/token_command.hpp"

#include <boost/algorithm/string/trim.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

namespace restante::client {

namespace {

failure bad_token(std::string text)
{
    return {exit_code::usage, "bad_token", std::move(text)};
}

outcome<std::string> token_of_command(const std::string& command)
{
    const auto text = run_token_command(command);
    if (!text)
        return text.error();
    return parse_token(*text, "the output of the token command");
}

}  // namespace

bool is_visible_ascii(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

outcome<std::string> parse_token(std::string_view text, const std::string& source)
{
    auto token = boost::trim_copy(std::string(text));
    if (token.empty() || token.size() > longest_token || !is_visible_ascii(token))
        return bad_token("There is no token in " + source +
                         ": those are visible ASCII characters without spaces.");
    return token;
}

outcome<std::string> read_token_file(const std::string& path)
{
    const unique_fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat facts{};
    if (!file || ::fstat(file.get(), &facts) != 0)
        return bad_token("The token file " + path + " cannot be read: " + std::strerror(errno) + '.');
    if ((facts.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return bad_token("The token file " + path + " can be read by others: chmod 600 it.");
    if (facts.st_uid != ::geteuid() && facts.st_uid != 0)
        return bad_token("The token file " + path + " belongs to another user.");
    std::string text(longest_token + 1, '\0');
    const auto n = ::read(file.get(), text.data(), text.size());
    if (n < 0)
        return bad_token("The token file " + path + " cannot be read: " + std::strerror(errno) + '.');
    return parse_token(std::string_view(text).substr(0, static_cast<std::size_t>(n)), path);
}

outcome<token_source> token_source::open(const settings& config)
{
    token_source out;
    out.file_ = config.token_file;
    out.command_ = config.token_command;
    out.token_ = config.token;
    auto read = out.read_again();
    if (!read)
        return read.error();
    out.token_ = *std::move(read);
    return out;
}

outcome<std::string> token_source::read_again() const
{
    if (!file_.empty())
        return read_token_file(file_);
    if (!command_.empty())
        return token_of_command(command_);
    return token_;
}

bool token_source::replace(std::string with)
{
    if (with == token_)
        return false;
    token_ = std::move(with);
    ++generation_;
    return true;
}

}  // namespace restante::client
