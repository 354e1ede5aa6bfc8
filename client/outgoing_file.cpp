#include "client/outgoing_file.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

namespace restante::client {

namespace {

// Of every server.
constexpr std::size_t most_files = 64;

struct known_type {
    std::string_view extension;
    std::string_view type;
};

constexpr known_type types[] = {
    {"csv", "text/csv"},        {"gif", "image/gif"},  {"gz", "application/gzip"},   {"html", "text/html"},
    {"jpeg", "image/jpeg"},     {"jpg", "image/jpeg"}, {"json", "application/json"}, {"md", "text/markdown"},
    {"mp3", "audio/mpeg"},      {"mp4", "video/mp4"},  {"pdf", "application/pdf"},   {"png", "image/png"},
    {"svg", "image/svg+xml"},   {"txt", "text/plain"}, {"wav", "audio/wav"},         {"webp", "image/webp"},
    {"zip", "application/zip"},
};

failure cannot_read(const std::string& path, int error)
{
    return {exit_code::failed, "cannot_read", path + " cannot be read: " + std::strerror(error) + '.'};
}

// A file without a name.
outcome<unique_fd> make_temporary()
{
    const char* told = std::getenv("TMPDIR");
    const std::string folder = told && *told == '/' ? told : "/var/tmp";
    unique_fd file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (file)
        return file;
    auto name = folder + "/restante-XXXXXX";
    file = unique_fd(::mkostemp(name.data(), O_CLOEXEC));
    if (!file)
        return disk_failure(folder, errno);
    ::unlink(name.c_str());
    return file;
}

outcome<unique_fd> copy_to_temporary(int from, const std::string& path)
{
    auto file = make_temporary();
    if (!file)
        return file;
    std::vector<char> block(256 * 1024);
    for (;;) {
        const auto n = ::read(from, block.data(), block.size());
        if (n < 0 && errno != EINTR)
            return cannot_read(path, errno);
        if (n == 0)
            return file;
        const std::string_view bytes(block.data(), n < 0 ? 0 : static_cast<std::size_t>(n));
        if (auto written = write_all(file->get(), bytes, "a temporary file"); !written)
            return written.error();
    }
}

outcome<outgoing_file> open_one(const std::string& path, const std::string& name)
{
    const bool is_stdin = path == "-";
    outgoing_file out;
    out.file = unique_fd(is_stdin ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                  : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat facts{};
    if (!out.file || ::fstat(out.file.get(), &facts) != 0)
        return cannot_read(path, errno);
    if (S_ISDIR(facts.st_mode))
        return failure{exit_code::failed, "cannot_read", path + " is a directory."};
    if (is_stdin || !S_ISREG(facts.st_mode)) {
        auto copy = copy_to_temporary(out.file.get(), path);
        if (!copy)
            return copy.error();
        out.file = *std::move(copy);
        ::fstat(out.file.get(), &facts);
    }
    out.size = static_cast<std::uint64_t>(facts.st_size);
    out.name = is_stdin ? "stdin" : path.substr(path.find_last_of('/') + 1);
    if (!name.empty())
        out.name = name;
    out.mime_type = guess_mime_type(out.name);
    return out;
}

// All are open until they are sent: what is renamed over one of them in the meantime is not sent in its
// place.
void allow_open_files(std::size_t count)
{
    constexpr rlim_t others = 64;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= count + others)
        return;
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, count + others);
    ::setrlimit(RLIMIT_NOFILE, &limit);  // if that is not enough, opening says so
}

}  // namespace

std::string_view guess_mime_type(std::string_view name)
{
    const auto dot = name.rfind('.');
    if (dot == std::string_view::npos)
        return {};
    for (const auto& each : types)
        if (iequals(name.substr(dot + 1), each.extension))
            return each.type;
    return {};
}

std::vector<std::size_t> batch_sizes(const std::vector<std::uint64_t>& sizes, std::uint64_t most_bytes)
{
    std::vector<std::size_t> out;
    std::uint64_t bytes = 0;
    for (const auto size : sizes) {
        if (out.empty() || out.back() == most_files || bytes + size > most_bytes) {
            out.push_back(0);
            bytes = 0;
        }
        ++out.back();
        bytes += size;
    }
    return out;
}

outcome<std::vector<outgoing_file>> open_outgoing(const std::vector<std::string>& paths,
                                                  const std::string& name)
{
    allow_open_files(paths.size());
    std::vector<outgoing_file> all;
    for (const auto& path : paths) {
        auto one = open_one(path, path == "-" || paths.size() == 1 ? name : "");
        if (!one)
            return one.error();
        all.push_back(*std::move(one));
    }
    return all;
}

}  // namespace restante::client
