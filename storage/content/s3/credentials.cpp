#include "storage/content/s3/credentials.hpp"

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "core/unique_fd.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace restante::s3 {

namespace {

constexpr std::size_t largest_file = 16 * 1024;
constexpr std::size_t longest_key = 1024;

bool is_key(std::string_view text)
{
    return !text.empty() && text.size() <= longest_key &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7F; });
}

result<std::string> read_file(const std::string& name)
{
    // O_NONBLOCK: a pipe in the place of the file must not stop us.
    const unique_fd file(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    std::string text(largest_file + 1, '\0');
    std::size_t size = 0;
    ssize_t got = file ? 1 : -1;
    while (got > 0 && size < text.size()) {
        got = ::read(file.get(), text.data() + size, text.size() - size);
        size += got > 0 ? static_cast<std::size_t>(got) : 0;
    }
    if (got < 0 || size > largest_file)
        return error_code(got < 0 ? errno : EFBIG, boost::system::system_category());
    text.resize(size);
    return text;
}

void warn_if_open(const std::string& file)
{
    struct stat info{};
    if (::stat(file.c_str(), &info) != 0 || (info.st_mode & S_IRWXO) == 0)
        return;
    log_line(log_level::warn, "s3_credentials_file_open")
        .field("file", file)
        .field("reason", "every user of this machine can read the S3 keys; chmod 600 the file");
}

std::string variable(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

}  // namespace

std::optional<key_pair> parse_credentials(std::string_view text)
{
    key_pair keys;
    while (!text.empty()) {
        auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        line = trim_blanks(line);
        if (line.empty() || line.starts_with('#') || line.starts_with('['))
            continue;
        const auto equals = line.find('=');
        if (equals == std::string_view::npos)
            return std::nullopt;
        const auto name = trim_blanks(line.substr(0, equals));
        const auto value = trim_blanks(line.substr(equals + 1));
        std::string* to = nullptr;
        if (name == "access_key" || name == "aws_access_key_id")
            to = &keys.access_key;
        if (name == "secret_key" || name == "aws_secret_access_key")
            to = &keys.secret_key;
        if (!to)
            continue;
        if (!to->empty() || !is_key(value))
            return std::nullopt;
        *to = value;
    }
    if (keys.access_key.empty() || keys.secret_key.empty())
        return std::nullopt;
    return keys;
}

startup_result<key_pair> credentials::load(const std::string& file)
{
    if (file.empty()) {
        key_pair keys{variable("RESTANTE_S3_ACCESS_KEY"), variable("RESTANTE_S3_SECRET_KEY")};
        if (!is_key(keys.access_key) || !is_key(keys.secret_key))
            return startup_failure{
                "the S3 store needs keys: --s3-credentials-file, or RESTANTE_S3_ACCESS_KEY and "
                "RESTANTE_S3_SECRET_KEY"};
        return keys;
    }
    const auto text = read_file(file);
    if (!text)
        return startup_failure{"--s3-credentials-file names " + file +
                               ", which cannot be read: " + text.error().message()};
    warn_if_open(file);
    auto keys = parse_credentials(*text);
    if (!keys)
        return startup_failure{file + " must hold two lines, access_key = … and secret_key = …"};
    return std::move(*keys);
}

credentials::credentials(std::string file, key_pair keys)
    : file_(std::move(file)), keys_(std::make_shared<const key_pair>(std::move(keys)))
{
}

std::shared_ptr<const key_pair> credentials::current() const
{
    const std::lock_guard lock(mutex_);
    return keys_;
}

void credentials::reload()
{
    if (file_.empty())  // the environment of a process does not change
        return;
    auto fresh = load(file_);
    if (!fresh) {
        log_line(log_level::error, "s3_credentials_not_reloaded").field("error", fresh.error().message);
        return;
    }
    auto keys = std::make_shared<const key_pair>(std::move(*fresh));
    const std::lock_guard lock(mutex_);
    keys_ = std::move(keys);
    log_line(log_level::info, "s3_credentials_reloaded");
}

}  // namespace restante::s3
