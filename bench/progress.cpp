#include "bench/progress.hpp"

#include <unistd.h>

#include <iostream>

namespace restante::bench {

progress::progress(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}

progress::~progress()
{
    clear();
}

void progress::tell(const std::string& what)
{
    const auto now = clock::now();
    if (quiet_ || now < next_)
        return;
    if (terminal_) {
        next_ = now + std::chrono::milliseconds(200);
        std::cerr << "\r\033[K" << what << std::flush;
        shown_ = true;
    } else {
        next_ = now + std::chrono::seconds(5);
        std::cerr << what << std::endl;
    }
}

void progress::clear()
{
    if (shown_)
        std::cerr << "\r\033[K" << std::flush;
    shown_ = false;
    next_ = {};
}

}  // namespace restante::bench
