#include "server/api/admin/series_json.hpp"

#include "core/json_text.hpp"

#include <cmath>

namespace restante {

namespace {

template <class Value>
void append_column(std::string& out, std::string_view name, const std::vector<series_point>& slots,
                   Value value)
{
    out += ",\"";
    out += name;
    out += "\":[";
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (i > 0)
            out += ',';
        value(out, slots[i]);
    }
    out += ']';
}

// In whole microseconds.
void append_time(std::string& out, const series_point& slot, double share)
{
    const double seconds = slot.servers > 0 ? slot.quantile(share) : -1;
    if (seconds < 0)
        out += "null";
    else
        append_json(out, static_cast<std::int64_t>(std::llround(seconds * 1e6)));
}

}  // namespace

std::vector<series_point> add_up(const std::vector<series_point>& points, timestamp first, std::size_t slots)
{
    std::vector<series_point> sums(slots);
    for (const auto& each : points) {
        if (each.slot < first)
            continue;
        const auto index = static_cast<std::size_t>((each.slot - first) / series_step);
        if (index < slots)
            sums[index].add(each);
    }
    return sums;
}

std::string series_json(const std::vector<series_point>& slots, timestamp first, bool all_servers)
{
    std::string out;
    append_member(out, "{\"from\":", first);
    append_member(out, ",\"step_seconds\":", std::int64_t{series_step.count()});
    out += all_servers ? ",\"all_servers\":true" : ",\"all_servers\":false";
    append_column(out, "servers", slots,
                  [](std::string& to, const series_point& slot) { append_json(to, slot.servers); });
    for (std::size_t i = 0; i < figure_count; ++i)
        append_column(out, figure_names[i], slots, [i](std::string& to, const series_point& slot) {
            append_json(to, slot.servers > 0 ? std::optional(slot.figures[i]) : std::nullopt);
        });
    append_column(out, "p50_us", slots, [](auto& to, const auto& slot) { append_time(to, slot, 0.5); });
    append_column(out, "p95_us", slots, [](auto& to, const auto& slot) { append_time(to, slot, 0.95); });
    append_column(out, "p99_us", slots, [](auto& to, const auto& slot) { append_time(to, slot, 0.99); });
    out += '}';
    return out;
}

}  // namespace restante
