#include "bench/progress.hpp"

#include <iostream>
#include <unistd.h>

namespace restante::bench {

progress_line::progress_line(bool quiet)
    : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1), pause_(terminal_ ? 200 : 5000)
{
    clear();
}

progress_line::~progress_line()
{
    clear();
}

void progress_line::show(const std::string& what)
{
    const auto now = clock::now();
    if (quiet_ || now < next_)
        return;
    next_ = now + pause_;
    if (terminal_) {
        std::cerr << "\r\033[K" << what << std::flush;
        shown_ = true;
    } else {
        std::cerr << what << std::endl;
    }
}

void progress_line::clear()
{
    if (shown_)
        std::cerr << "\r\033[K" << std::flush;
    shown_ = false;
    next_ = clock::now() + pause_;
}

}  // namespace restante::bench
