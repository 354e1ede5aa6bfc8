// GET /admin/series: rates and sizes of the last minutes, all servers added up.
#include "core/decimal.hpp"
#include "http/message/query_reader.hpp"
#include "http/session/request_context.hpp"
#include "server/api/admin/admin.hpp"
#include "server/api/admin/series_json.hpp"
#include "server/api/admin/services.hpp"
#include "server/series/recent_series.hpp"

namespace restante {

namespace {

constexpr std::uint64_t default_minutes = 60;
constexpr std::uint64_t most_minutes = std::chrono::minutes(figures_store::kept).count();

std::optional<std::uint64_t> parse_minutes(std::string_view text)
{
    const auto minutes = parse_decimal(text);
    if (!minutes || *minutes < 1 || *minutes > most_minutes)
        return std::nullopt;
    return *minutes;
}

}  // namespace

// While the database does not answer, this server's own points are shown: that is when they are looked at.
awaitable<response> handle_admin_series(request_context& req, admin_services& svc)
{
    query_reader query(req.query());
    const auto minutes =
        query.value("minutes", "a number from 1 to 180", parse_minutes).value_or(default_minutes);
    if (query.refused())
        co_return req.fail(*query.refused());
    const auto count = static_cast<std::size_t>(std::chrono::minutes(minutes) / series_step);
    const auto now = std::chrono::time_point_cast<timestamp::duration>(std::chrono::system_clock::now());
    const auto first = slot_of(now) - series_step * static_cast<int>(count);

    const auto rows = co_await svc.figures.read(first);
    std::vector<series_point> points;
    if (rows)
        for (const auto& row : *rows)
            points.push_back(to_point(row));
    else
        points = svc.recent.since(first);
    co_return req.list(series_json(add_up(points, first, count), first, rows.has_value()));
}

}  // namespace restante
