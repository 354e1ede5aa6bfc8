#include "server/series/series_point.hpp"

#include <algorithm>

namespace restante {

namespace {

bool is_state(figure which)
{
    return which >= figure::websockets;
}

bool is_of_database(figure which)
{
    return which >= figure::waiting_files;
}

bool has(std::string_view labels, std::string_view part)
{
    return labels.find(part) != std::string_view::npos;
}

bool is_server_error(std::string_view labels)
{
    return has(labels, "status=\"5");
}

bool is_good_ack(std::string_view labels)
{
    return has(labels, "/ack\"") && has(labels, "pending-uploads") && has(labels, "status=\"200\"");
}

bool is_staged(std::string_view labels)
{
    return has(labels, "outcome=\"staged\"");
}

// Polls and receipts are held until something happens.
bool answers_at_once(std::string_view labels)
{
    return !has(labels, "/activity\"") && !has(labels, "/uploads/{file_id}\"");
}

std::int64_t whole(double value)
{
    return static_cast<std::int64_t>(value);
}

}  // namespace

void series_point::add(const series_point& other)
{
    servers += other.servers;
    for (std::size_t i = 0; i < figure_count; ++i) {
        if (is_of_database(static_cast<figure>(i)))
            figures[i] = std::max(figures[i], other.figures[i]);
        else
            figures[i] += other.figures[i];
    }
    buckets.resize(std::max(buckets.size(), other.buckets.size()));
    for (std::size_t i = 0; i < other.buckets.size(); ++i)
        buckets[i] += other.buckets[i];
}

double series_point::quantile(double share) const
{
    const auto& bounds = metric_set::bucket_bounds();
    std::int64_t all = 0;
    for (const auto count : buckets)
        all += count;
    if (all == 0)
        return -1;
    const double wanted = share * static_cast<double>(all);
    double below = 0;
    for (std::size_t i = 0; i < buckets.size() && i < bounds.size(); ++i) {
        const auto here = static_cast<double>(buckets[i]);
        const double from = i == 0 ? 0 : bounds[i - 1];
        if (here > 0 && below + here >= wanted)
            return from + (bounds[i] - from) * (wanted - below) / here;
        below += here;
    }
    return bounds.back();
}

timestamp slot_of(timestamp when)
{
    const auto since = when.time_since_epoch();
    return timestamp(since - since % series_step);
}

series_point read_figures(const metric_set& metrics)
{
    series_point now{.servers = 1};
    now[figure::requests] = whole(metrics.total("molecule_http_requests_total"));
    now[figure::errors] = whole(metrics.total("molecule_http_requests_total", is_server_error));
    now[figure::uploads] = whole(metrics.total("molecule_uploads_total", is_staged));
    now[figure::files] = whole(metrics.total("molecule_uploaded_files_total"));
    now[figure::bytes] = whole(metrics.total("molecule_uploaded_bytes_total"));
    now[figure::acks] = whole(metrics.total("molecule_http_requests_total", is_good_ack));
    now[figure::events] = whole(metrics.total("molecule_events_sent_total"));
    now[figure::websockets] = whole(metrics.total("molecule_websocket_connections_active"));
    now[figure::parked_polls] = whole(metrics.total("molecule_parked_polls"));
    now[figure::waiting_files] = whole(metrics.total("molecule_pending_uploads_unacked_files"));
    now[figure::waiting_bytes] = whole(metrics.total("molecule_pending_uploads_unacked_bytes"));
    const auto buckets = metrics.total_buckets("molecule_http_request_duration_seconds", answers_at_once);
    now.buckets.assign(buckets.begin(), buckets.end());
    return now;
}

series_point difference(const series_point& before, const series_point& after)
{
    series_point between = after;
    for (std::size_t i = 0; i < figure_count; ++i)
        if (!is_state(static_cast<figure>(i)))
            between.figures[i] -= before.figures[i];
    for (std::size_t i = 0; i < before.buckets.size() && i < between.buckets.size(); ++i)
        between.buckets[i] -= before.buckets[i];
    return between;
}

figures_row to_row(const series_point& point)
{
    return {point.slot, {point.figures.begin(), point.figures.end()}, point.buckets};
}

series_point to_point(const figures_row& row)
{
    series_point point{.slot = row.slot, .servers = 1};
    const auto known = std::min(row.figures.size(), figure_count);
    std::copy_n(row.figures.begin(), known, point.figures.begin());
    point.buckets = row.buckets;
    point.buckets.resize(std::min(point.buckets.size(), metric_set::bucket_bounds().size() + 1));
    return point;
}

}  // namespace restante
