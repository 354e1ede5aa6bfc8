#include "client/journal.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace restante::client {

namespace {

constexpr const char* file_name = "journal";

}  // namespace

outcome<journal> journal::open(int directory, std::size_t rewrite_above)
{
    journal out;
    out.directory_ = unique_fd(::fcntl(directory, F_DUPFD_CLOEXEC, 3));
    out.lock_ = unique_fd(::openat(directory, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!out.directory_ || !out.lock_)
        return disk_failure("the lock of the journal", errno);
    const auto mine = lock(out.lock_.get(), "the lock of the journal");
    if (!mine)
        return mine.error();
    if (!*mine)
        return failure{exit_code::failed, "in_use", "Another pull uses the same journal."};

    auto text = read_whole(directory, file_name);
    if (!text)
        return text.error();
    out.facts_.read(*text);
    out.torn_ = !text->empty() && text->back() != '\n';
    out.size_ = text->size();
    out.least_rewritten_ = out.rewrite_above_ = rewrite_above;
    if (auto opened = out.size_ > rewrite_above ? out.rewrite() : out.open_file(); !opened)
        return opened.error();
    return out;
}

outcome<void> journal::open_file()
{
    unique_fd opened(
        ::openat(directory_.get(), file_name, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!opened)
        return disk_failure("the journal", errno);
    file_ = std::make_shared<const unique_fd>(std::move(opened));
    return {};
}

// What was appended and not yet synced is in the new file, which is.
outcome<void> journal::rewrite()
{
    const auto text = facts_.text();
    const auto written = replace_file(directory_.get(), file_name, text);
    if (written) {
        distrusted_ = false;
        torn_ = false;
        size_ = text.size();
    }
    // Not at every line, when the disk is full or all of it still counts.
    rewrite_above_ = std::max(least_rewritten_, 2 * size_);
    if (auto opened = open_file(); !opened)
        return opened;
    return written;
}

outcome<void> journal::append(const std::string& lines)
{
    if (distrusted_)
        if (auto written = rewrite(); !written)
            return written;
    auto written = write_all(file_->get(), torn_ ? '\n' + lines : lines, "the journal");
    torn_ = !written;
    if (!written)
        return written;
    facts_.read(lines);
    size_ += lines.size();
    return size_ > rewrite_above_ ? rewrite() : written;
}

}  // namespace restante::client
