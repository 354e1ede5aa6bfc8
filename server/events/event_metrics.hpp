#pragma once

#include "core/metrics.hpp"
#include "server/events/event_frame.hpp"

namespace restante {

// What live listeners cost and get, for one shard.
struct event_metrics {
    explicit event_metrics(metrics& counts)
        : websockets(counts.gauge("molecule_websocket_connections_active", "Open WebSockets")),
          streams(counts.gauge("molecule_event_streams_active", "Open Server-Sent Events streams")),
          sent(counts.counter("molecule_events_sent_total", "Events written to a listener's connection")),
          dropped(counts.counter("molecule_events_dropped_total",
                                 "Events not sent to listeners that fell behind")),
          latency(counts.seconds("molecule_feed_latency_seconds",
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

    metrics::number& websockets;
    metrics::number& streams;
    metrics::number& sent;
    metrics::number& dropped;
    metrics::histogram& latency;
};

// A gauge that is one higher for as long as this lives.
class counted {
public:
    explicit counted(metrics::number& gauge) : gauge_(gauge) { gauge_.add(1); }
    ~counted() { gauge_.add(-1); }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;

private:
    metrics::number& gauge_;
};

}  // namespace restante
