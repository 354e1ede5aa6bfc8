#include "client/progress_display.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/ioctl.h>
#include <unistd.h>

namespace restante::client {

namespace {

constexpr std::size_t most_bars = 8;

winsize terminal_size()
{
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        size.ws_col = 80;
    if (size.ws_row == 0)
        size.ws_row = 24;
    return size;
}

bool can_draw()
{
    const char* term = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) == 1 && term && *term != '\0' && std::strcmp(term, "dumb") != 0;
}

bool wants_color()
{
    const char* no = std::getenv("NO_COLOR");
    return !no || *no == '\0';
}

// Best effort: a terminal that is gone shows nothing anyway.
void put(const std::string& text)
{
    [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

progress_display::progress_display(bool wanted) : on_(wanted && can_draw()), color_(wants_color()) {}

std::unique_ptr<progress_display::transfer> progress_display::begin(std::string name, std::uint64_t size,
                                                                    std::uint64_t done)
{
    const auto which = entries_.insert(entries_.end(), entry{});
    which->view = {std::move(name), done, size, 0};
    which->meter.add(0, clock::now());
    meter_.add(0, clock::now());
    waiting_.files -= std::min<std::size_t>(waiting_.files, 1);
    waiting_.bytes -= std::min(waiting_.bytes, size);
    return std::make_unique<transfer>(*this, which);
}

void progress_display::erase()
{
    if (lines_ == 0)
        return;
    put("\x1b[" + std::to_string(lines_) + "A\r\x1b[J");
    lines_ = 0;
}

whole_view progress_display::whole(clock::time_point now) const
{
    whole_view out{.finished = finished_, .waiting = waiting_, .rate = meter_.rate(now)};
    for (const auto& each : entries_) {
        ++out.under_way.files;
        out.under_way.bytes += each.view.size;
        out.done += each.view.done;
    }
    return out;
}

void progress_display::draw()
{
    if (!on_)
        return;
    // What comes after a pause is another whole.
    if (entries_.empty() && waiting_.files == 0) {
        finished_ = {};
        meter_ = {};
    }
    const auto now = clock::now();
    const auto size = terminal_size();
    // The last column stays free: a full line would wrap on some terminals, and two lines be erased as one.
    const auto width = std::max<std::size_t>(size.ws_col, 20) - 1;
    // What has left the screen at its top could not be erased: a line stays for the cursor, one for the
    // whole.
    const auto bars = std::clamp<std::size_t>(size.ws_row, 3, most_bars + 2) - 2;
    std::string text;
    if (lines_ > 0)
        text = "\x1b[" + std::to_string(lines_) + "A\r\x1b[J";
    lines_ = 0;
    for (auto each = entries_.begin(); each != entries_.end() && lines_ < bars; ++each, ++lines_) {
        each->view.rate = each->meter.rate(now);
        text += transfer_line(each->view, width, color_) + "\r\n";
    }
    const auto all = whole(now);
    if (!entries_.empty() && all.finished.files + all.under_way.files + all.waiting.files > 1) {
        text += summary_line(all, width) + "\r\n";
        ++lines_;
    }
    if (!text.empty())
        put(text);
}

void progress_display::transfer::advance(std::uint64_t bytes)
{
    which_->view.done += bytes;
    which_->meter.add(bytes, clock::now());
    owner_.meter_.add(bytes, clock::now());
}

progress_display::transfer::~transfer()
{
    if (complete_) {
        ++owner_.finished_.files;
        owner_.finished_.bytes += which_->view.size;
    }
    owner_.entries_.erase(which_);
}

}  // namespace restante::client
