#include "client/multipart_body.hpp"

#include "core/encoding.hpp"
#include "core/text.hpp"

#include <cerrno>
#include <unistd.h>

namespace restante::client {

namespace {

constexpr std::size_t block_size = 128 * 1024;

}  // namespace

std::string form_name(std::string_view name)
{
    std::string out;
    for (const char c : name) {
        if (c == '"')
            out += "%22";
        else if (is_ascii_control(c))
            out += '_';
        else
            out += c;
    }
    return out;
}

multipart_body::multipart_body(std::span<const outgoing_file> files, std::string boundary,
                               worker_pool& workers, progress_display& progress)
    : files_(files), boundary_(std::move(boundary)), workers_(workers), progress_(progress)
{
    for (const auto& file : files_)
        length_ += head_of(file).size() + file.size + 2;
    length_ += boundary_.size() + 6;
}

std::string multipart_body::head_of(const outgoing_file& file) const
{
    std::string head = "--" + boundary_ + "\r\nContent-Disposition: form-data; name=\"files\"; filename=\"" +
                       form_name(file.name) + "\"\r\n";
    if (!file.mime_type.empty())
        head += "Content-Type: " + file.mime_type + "\r\n";
    return head += "\r\n";
}

awaitable<result<std::span<const char>>> multipart_body::next()
{
    if (in_file_ && offset_ < files_[current_].size)
        co_return co_await next_of_file();
    text_.clear();
    if (in_file_) {
        digests_.push_back(to_hex(digest_.finish()));
        shown_->complete();
        text_ = "\r\n";
        ++current_;
        in_file_ = false;
    }
    if (current_ < files_.size()) {
        const auto& file = files_[current_];
        text_ += head_of(file);
        shown_.reset();
        shown_ = progress_.begin(file.name, file.size, 0);
        in_file_ = true;
        offset_ = 0;
    } else if (!std::exchange(ended_, true)) {
        text_ += "--" + boundary_ + "--\r\n";
    }
    co_return std::span<const char>(text_.data(), text_.size());
}

awaitable<result<std::span<const char>>> multipart_body::next_of_file()
{
    const auto& file = files_[current_];
    block_.resize(std::min<std::uint64_t>(block_size, file.size - offset_));
    auto read = [&]() -> std::size_t {
        const auto n = ::pread(file.file.get(), block_.data(), block_.size(), static_cast<off_t>(offset_));
        if (n > 0)
            digest_.update({block_.data(), static_cast<std::size_t>(n)});
        return n > 0 ? static_cast<std::size_t>(n) : 0;
    };
    const auto got = co_await workers_.run(read);
    if (got == 0)
        co_return RESTANTE_ERROR(errc::io_error);
    offset_ += got;
    shown_->advance(got);
    co_return std::span<const char>(block_.data(), got);
}

}  // namespace restante::client
