#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <thread>

namespace restante {

// Writes a complete line to the sink of core/log.hpp: at once, or through the queue of a background_log.
void write_log_line(std::string_view line);

// Lines lost since the process started, because the queue was full or the sink failed.
std::uint64_t log_lines_dropped();

class log_queue;

// While this lives, no caller waits for the reader of the log: lines go into a queue of so many bytes, and a
// thread writes them in order. A line that does not fit is dropped and counted; when there is room again, the
// line `log_lines_dropped` says how many were. Only a regular file, which nobody has to read, is written to
// directly as before, so that a killed process has logged what it did.
//
// Make it before any thread that logs, after the signals are blocked and the sink is set.
class background_log {
public:
    explicit background_log(std::size_t capacity = 1 << 20);

    // Waits at most a second for the queue to empty. The rest is lost if the reader has stopped by then.
    ~background_log();

    background_log(const background_log&) = delete;
    background_log& operator=(const background_log&) = delete;

private:
    std::unique_ptr<log_queue> queue_;  // null: written directly
    std::thread writer_;
};

// Gives queued lines at most a second to be written, for a process that is about to end without destructors.
void flush_log();

}  // namespace restante
