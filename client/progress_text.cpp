#include "client/progress_text.hpp"

#include "client/terminal_text.hpp"

#include <algorithm>
#include <cstdio>

namespace restante::client {

namespace {

constexpr auto rate_window = std::chrono::seconds(4);
constexpr std::size_t name_width = 24;
constexpr std::size_t widest_bar = 30;

std::string bar(double share, std::size_t width, bool color)
{
    const auto full = static_cast<std::size_t>(share * static_cast<double>(width));
    std::string out = "[";
    if (color)
        out += "\x1b[32m";
    out.append(full, '#');
    if (color)
        out += "\x1b[0m";
    out.append(width - full, '.');
    return out + ']';
}

std::string time_left(const transfer_view& view)
{
    if (view.rate < 1 || view.done >= view.size)
        return "";
    return format_seconds(static_cast<std::uint64_t>(static_cast<double>(view.size - view.done) / view.rate));
}

std::string figures(const transfer_view& view)
{
    char share[8];
    const auto percent = view.size == 0 ? 100 : view.done * 100 / view.size;
    std::snprintf(share, sizeof share, "%3u%%", static_cast<unsigned>(std::min<std::uint64_t>(percent, 100)));
    std::string out = share;
    out += "  " + format_bytes(view.done) + " of " + format_bytes(view.size);
    if (view.rate >= 1)
        out += "  " + format_bytes(static_cast<std::uint64_t>(view.rate)) + "/s";
    if (const auto left = time_left(view); !left.empty())
        out += "  " + left + " left";
    return out;
}

}  // namespace

void rate_meter::add(std::uint64_t bytes, clock::time_point now)
{
    total_ += bytes;
    if (!points_.empty() && now - points_.back().when < std::chrono::milliseconds(100))
        points_.back().bytes = total_;
    else
        points_.push_back({now, total_});
    while (points_.size() > 2 && now - points_.front().when > rate_window)
        points_.erase(points_.begin());
}

double rate_meter::rate(clock::time_point now) const
{
    if (points_.size() < 2)
        return 0;
    const std::chrono::duration<double> time = now - points_.front().when;
    return time.count() <= 0 ? 0 : static_cast<double>(total_ - points_.front().bytes) / time.count();
}

std::string format_bytes(std::uint64_t bytes)
{
    constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= 1024 && unit + 1 < std::size(units); ++unit)
        value /= 1024;
    char text[32];
    std::snprintf(text, sizeof text, unit == 0 || value >= 100 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return text;
}

std::string format_seconds(std::uint64_t seconds)
{
    char text[32];
    seconds = std::min<std::uint64_t>(seconds, 359'999);
    const auto hours = static_cast<unsigned>(seconds / 3600);
    const auto minutes = static_cast<unsigned>(seconds / 60 % 60);
    const auto rest = static_cast<unsigned>(seconds % 60);
    if (hours > 0)
        std::snprintf(text, sizeof text, "%u:%02u:%02u", hours, minutes, rest);
    else
        std::snprintf(text, sizeof text, "%u:%02u", minutes, rest);
    return text;
}

std::string transfer_line(const transfer_view& view, std::size_t width, bool color)
{
    const auto numbers = figures(view);
    const auto name = printable(view.name);
    const std::size_t needed = name_width + 2 + columns(numbers) + 2;
    if (width < needed + 12)
        return fitted(fitted(name, std::min(name_width, width / 2)) + ' ' + numbers, width);
    const auto bar_width = std::min(widest_bar, width - needed - 2);
    const double share =
        view.size == 0 ? 1
                       : static_cast<double>(std::min(view.done, view.size)) / static_cast<double>(view.size);
    return fitted(name, name_width) + "  " + bar(share, bar_width, color) + "  " + numbers;
}

std::string summary_line(const whole_view& view, std::size_t width)
{
    const transfer_view sum{.done = view.finished.bytes + view.done,
                            .size = view.finished.bytes + view.under_way.bytes + view.waiting.bytes,
                            .rate = view.rate};
    auto text =
        std::to_string(view.finished.files) + " done, " + std::to_string(view.under_way.files) + " under way";
    if (view.waiting.files > 0)
        text += ", " + std::to_string(view.waiting.files) + " waiting";
    text += "  " + figures(sum);
    if (columns(text) > width)
        text = fitted(text, width);
    return text;
}

}  // namespace restante::client
