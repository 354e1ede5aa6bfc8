#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace restante {

// A line at the bottom of the terminal that is stderr, gone when it is destroyed; nothing on anything else.
// The bar follows the bytes: one file may take as long as thousands of others.
class progress_line {
public:
    struct amount {
        std::int64_t files = 0;
        std::int64_t bytes = 0;
    };

    progress_line(const char* doing, amount total, bool wanted);
    ~progress_line();
    progress_line(const progress_line&) = delete;
    progress_line& operator=(const progress_line&) = delete;

    // Some of the file that is being worked on.
    void advance(std::uint64_t bytes);
    // All of a file of this size, however much of it was read, and how often.
    void finish_file(std::uint64_t size);

private:
    void draw();

    const char* doing_;
    amount total_;
    amount done_;
    std::int64_t of_this_file_ = 0;
    bool on_;
    std::chrono::steady_clock::time_point drawn_{};
};

// "checking [######........................] 12/340 files, 1.2 GiB of 30 GiB". There may be more by now than
// there were at first.
std::string progress_text(const char* doing, progress_line::amount done, progress_line::amount total);

// The same for work whose end is not known: "looking for bytes without a row: 12,000".
class counting_line {
public:
    counting_line(std::string doing, bool wanted);
    ~counting_line();
    counting_line(const counting_line&) = delete;
    counting_line& operator=(const counting_line&) = delete;

    void advance(std::size_t more);

private:
    void draw() const;

    std::string doing_;
    std::int64_t done_ = 0;
    bool on_;
};

}  // namespace restante
