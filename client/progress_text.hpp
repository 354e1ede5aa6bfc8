#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restante::client {

// One transfer, as the terminal shows it.
struct transfer_view {
    std::string name;
    std::uint64_t done = 0;
    std::uint64_t size = 0;
    double rate = 0;  // bytes per second
};

// Some of the files of a command.
struct amount {
    std::size_t files = 0;
    std::uint64_t bytes = 0;
};

// All of them.
struct whole_view {
    amount finished;
    amount under_way;
    amount waiting;
    std::uint64_t done = 0;  // of the bytes under way
    double rate = 0;         // bytes per second
};

// The bytes of a transfer over time: the rate of the last seconds, not of the whole.
class rate_meter {
public:
    using clock = std::chrono::steady_clock;
    void add(std::uint64_t bytes, clock::time_point now);
    double rate(clock::time_point now) const;

private:
    struct point {
        clock::time_point when;
        std::uint64_t bytes;
    };
    std::vector<point> points_;
    std::uint64_t total_ = 0;
};

// "812 B", "1.5 MiB".
std::string format_bytes(std::uint64_t bytes);
// "0:07", "12:40", "1:02:03".
std::string format_seconds(std::uint64_t seconds);

// One line of at most `width` columns: name, bar, percentage, bytes, rate, time left.
std::string transfer_line(const transfer_view& view, std::size_t width, bool color);
// What stands below them when there are several files: the whole.
std::string summary_line(const whole_view& view, std::size_t width);

}  // namespace restante::client
