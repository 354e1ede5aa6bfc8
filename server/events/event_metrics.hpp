#pragma once

#include "core/metrics.hpp"
#include "server/events/event_frame.hpp"

namespace restante {

// Metrics of the live subscribers of one shard.
struct event_metrics {
    explicit event_metrics(metric_set& metrics)
        : websockets(metrics.gauge("molecule_websocket_connections_active", "Open WebSockets")),
          streams(metrics.gauge("molecule_event_streams_active", "Open Server-Sent Events streams")),
          sent(metrics.counter("molecule_events_sent_total", "Events written to a listener's connection")),
          dropped(metrics.counter("molecule_events_dropped_total",
                                  "Events not sent to listeners that fell behind")),
          held_bytes(metrics.gauge("molecule_events_held_bytes",
                                   "Events and pages of the feed that are held for live listeners")),
          latency(metrics.seconds("molecule_feed_latency_seconds",
                                  "From the time of a row to its event written to a listener"))
    {
    }

    void note_sent(const event& what)
    {
        sent.add();
        // The database's clock may be ahead of ours.
        const std::chrono::duration<double> late = std::chrono::system_clock::now() - what.created_at;
        latency.observe(std::max(0.0, late.count()));
    }

    metric_set::number& websockets;
    metric_set::number& streams;
    metric_set::number& sent;
    metric_set::number& dropped;
    metric_set::number& held_bytes;
    metric_set::histogram& latency;
};

// A gauge that is one higher for as long as this lives.
class counted {
public:
    explicit counted(metric_set::number& gauge) : gauge_(gauge) { gauge_.add(1); }
    ~counted() { gauge_.add(-1); }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;

private:
    metric_set::number& gauge_;
};

}  // namespace restante
