#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace restante {

// Metrics of one shard. Only that shard's thread touches them, so incrementing is a plain addition; a scrape
// copies each shard's metrics (on that shard's thread) and sums them. Labels come from closed sets only:
// route templates, methods, status codes, outcomes.
class metric_set {
public:
    using labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

    struct number {
        double value = 0;
        void add(double n = 1) { value += n; }
        void set(double n) { value = n; }
    };
    struct histogram {
        explicit histogram(const std::vector<double>* bounds)
            : upper_bounds(bounds), buckets(bounds->size() + 1)
        {
        }
        void observe(double x);
        const std::vector<double>* upper_bounds;
        std::vector<std::uint64_t> buckets;  // the last one is +Inf
        double sum = 0;
    };

    // The series with these labels, created on first use; references stay valid as long as the metrics do. On
    // hot paths, call once and keep the reference.
    number& counter(std::string_view name, std::string_view help, labels with = {});
    // Gauges of several shards are summed, like counters.
    number& gauge(std::string_view name, std::string_view help, labels with = {});
    // Seconds, with buckets from 0.5 ms to 60 s.
    histogram& seconds(std::string_view name, std::string_view help, labels with = {});

    // Called on the shard's thread before each scrape: for gauges whose value is kept elsewhere.
    void before_scrape(std::function<void()> refresh) { refreshes_.push_back(std::move(refresh)); }
    void refresh() const
    {
        for (const auto& each : refreshes_)
            each();
    }

    // Adds another shard's values to these.
    void merge(const metric_set& other);

    // Sums over the series of a family whose rendered labels (path="/healthz",status="200") satisfy `which`;
    // zero, or no buckets, when there is no such family.
    using label_test = std::function<bool(std::string_view labels)>;
    double total(std::string_view name, const label_test& which = {}) const;
    std::vector<std::uint64_t> total_buckets(std::string_view name, const label_test& which = {}) const;

    // What histograms of seconds divide by; one bucket more than bounds, the last for what is above all.
    static const std::vector<double>& bucket_bounds();

    // The Prometheus text format, families sorted by name, series by labels.
    std::string to_prometheus() const;

private:
    enum class kind { counter, gauge, histogram };
    struct family {
        kind what;
        std::string help;
        std::map<std::string, std::unique_ptr<number>, std::less<>> numbers;  // by rendered labels
        std::map<std::string, std::unique_ptr<histogram>, std::less<>> histograms;
    };
    family& family_for(std::string_view name, std::string_view help, kind what);

    std::map<std::string, family, std::less<>> families_;
    std::vector<std::function<void()>> refreshes_;
};

}  // namespace restante
