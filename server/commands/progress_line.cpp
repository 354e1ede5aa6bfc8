#include "server/commands/progress_line.hpp"

#include "server/commands/plain_words.hpp"

#include <algorithm>
#include <iostream>
#include <unistd.h>

namespace restante {

namespace {

constexpr auto redraw_interval = std::chrono::milliseconds(100);
constexpr int bar_width = 30;
constexpr const char* erase_line = "\r\x1b[K";

bool is_shown(bool wanted)
{
    return wanted && ::isatty(STDERR_FILENO) == 1;
}

// How much of the bar is filled.
int filled_part(progress_line::amount done, progress_line::amount total)
{
    if (total.bytes <= 0)
        return bar_width;
    const double share = static_cast<double>(done.bytes) / static_cast<double>(total.bytes);
    return static_cast<int>(bar_width * std::min(1.0, share));
}

}  // namespace

std::string progress_text(const char* doing, progress_line::amount done, progress_line::amount total)
{
    const progress_line::amount all{std::max(done.files, total.files), std::max(done.bytes, total.bytes)};
    const auto filled = static_cast<std::size_t>(filled_part(done, all));
    const std::string bar = std::string(filled, '#') + std::string(bar_width - filled, '.');
    const std::string files = with_separators(done.files) + '/' + counted(all.files, "file", "files");
    return std::string(doing) + " [" + bar + "] " + files + ", " + in_bytes(done.bytes) + " of " +
           in_bytes(all.bytes);
}

progress_line::progress_line(const char* doing, amount total, bool wanted)
    : doing_(doing), total_(total), on_(is_shown(wanted))
{
    draw();
}

progress_line::~progress_line()
{
    if (on_)
        std::cerr << erase_line << std::flush;
}

void progress_line::advance(std::uint64_t bytes)
{
    of_this_file_ += static_cast<std::int64_t>(bytes);
    draw();
}

void progress_line::finish_file(std::uint64_t size)
{
    of_this_file_ = 0;
    done_.files += 1;
    done_.bytes += static_cast<std::int64_t>(size);
    draw();
}

void progress_line::draw()
{
    const auto now = std::chrono::steady_clock::now();
    if (!on_ || now - drawn_ < redraw_interval)
        return;
    drawn_ = now;
    const amount seen{done_.files, done_.bytes + of_this_file_};
    std::cerr << '\r' << progress_text(doing_, seen, total_) << "\x1b[K" << std::flush;
}

counting_line::counting_line(std::string doing, bool wanted) : doing_(std::move(doing)), on_(is_shown(wanted))
{
    draw();
}

counting_line::~counting_line()
{
    if (on_)
        std::cerr << erase_line << std::flush;
}

void counting_line::advance(std::size_t more)
{
    done_ += static_cast<std::int64_t>(more);
    draw();
}

void counting_line::draw() const
{
    if (on_)
        std::cerr << '\r' << doing_ << ": " << with_separators(done_) << "\x1b[K" << std::flush;
}

}  // namespace restante
