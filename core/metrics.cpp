#include "core/metrics.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace restante {

namespace {

const std::vector<double> seconds_bounds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                         0.25,   0.5,   1,      2.5,   5,    10,    30,   60};

void append_escaped(std::string& out, std::string_view text, bool quotes)
{
    for (const char c : text) {
        if (c == '\\')
            out += "\\\\";
        else if (c == '\n')
            out += "\\n";
        else if (c == '"' && quotes)
            out += "\\\"";
        else
            out += c;
    }
}

// The text between the braces: method="GET",path="/healthz".
std::string render(metric_set::labels with)
{
    std::string out;
    for (const auto& [name, value] : with) {
        if (!out.empty())
            out += ',';
        out += name;
        out += "=\"";
        append_escaped(out, value, true);
        out += '"';
    }
    return out;
}

void append_value(std::string& out, double value)
{
    if (std::isnan(value)) {
        out += "NaN";
        return;
    }
    if (std::isinf(value)) {
        out += value > 0 ? "+Inf" : "-Inf";
        return;
    }
    // People read counts and bucket bounds too: an exponent only where it is much shorter.
    const double size = std::abs(value);
    const bool plain = size == 0 || (size > 1e-6 && size < 1e15);
    char text[40];
    const auto end = plain ? std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr
                           : std::to_chars(text, text + sizeof text, value).ptr;
    out.append(text, end);
}

void append_series(std::string& out, std::string_view name, std::string_view suffix, std::string_view labels,
                   double value)
{
    out += name;
    out += suffix;
    if (!labels.empty()) {
        out += '{';
        out += labels;
        out += '}';
    }
    out += ' ';
    append_value(out, value);
    out += '\n';
}

void append_histogram(std::string& out, std::string_view name, const std::string& labels,
                      const metric_set::histogram& h)
{
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < h.buckets.size(); ++i) {
        below += h.buckets[i];
        std::string with = labels.empty() ? "le=\"" : labels + ",le=\"";
        append_value(with, i < h.upper_bounds->size() ? (*h.upper_bounds)[i] : INFINITY);
        with += '"';
        append_series(out, name, "_bucket", with, static_cast<double>(below));
    }
    append_series(out, name, "_sum", labels, h.sum);
    append_series(out, name, "_count", labels, static_cast<double>(below));
}

template <class Series, class... Arguments>
Series& find_or_make(std::map<std::string, std::unique_ptr<Series>, std::less<>>& in, std::string labels,
                     Arguments... arguments)
{
    auto& series = in[std::move(labels)];
    if (!series)
        series = std::make_unique<Series>(arguments...);
    return *series;
}

}  // namespace

void metric_set::histogram::observe(double x)
{
    const auto bound = std::lower_bound(upper_bounds->begin(), upper_bounds->end(), x);
    ++buckets[static_cast<std::size_t>(bound - upper_bounds->begin())];
    sum += x;
}

metric_set::family& metric_set::family_for(std::string_view name, std::string_view help, kind what)
{
    auto at = families_.find(name);
    if (at == families_.end())
        at = families_.emplace(std::string(name), family{what, std::string(help), {}, {}}).first;
    if (at->second.what != what)
        throw std::logic_error("metric of two kinds: " + std::string(name));
    return at->second;
}

metric_set::number& metric_set::counter(std::string_view name, std::string_view help, labels with)
{
    return find_or_make(family_for(name, help, kind::counter).numbers, render(with));
}

metric_set::number& metric_set::gauge(std::string_view name, std::string_view help, labels with)
{
    return find_or_make(family_for(name, help, kind::gauge).numbers, render(with));
}

metric_set::histogram& metric_set::seconds(std::string_view name, std::string_view help, labels with)
{
    return find_or_make(family_for(name, help, kind::histogram).histograms, render(with), &seconds_bounds);
}

void metric_set::merge(const metric_set& other)
{
    for (const auto& [name, theirs] : other.families_) {
        family& ours = family_for(name, theirs.help, theirs.what);
        for (const auto& [labels, number] : theirs.numbers)
            find_or_make(ours.numbers, labels).add(number->value);
        for (const auto& [labels, h] : theirs.histograms) {
            histogram& sum = find_or_make(ours.histograms, labels, h->upper_bounds);
            for (std::size_t i = 0; i < h->buckets.size(); ++i)
                sum.buckets[i] += h->buckets[i];
            sum.sum += h->sum;
        }
    }
}

double metric_set::total(std::string_view name, const label_test& which) const
{
    double sum = 0;
    const auto family = families_.find(name);
    if (family != families_.end())
        for (const auto& [labels, number] : family->second.numbers)
            if (!which || which(labels))
                sum += number->value;
    return sum;
}

std::vector<std::uint64_t> metric_set::total_buckets(std::string_view name, const label_test& which) const
{
    std::vector<std::uint64_t> sum;
    const auto family = families_.find(name);
    if (family == families_.end())
        return sum;
    for (const auto& [labels, h] : family->second.histograms) {
        if (which && !which(labels))
            continue;
        sum.resize(h->buckets.size());
        for (std::size_t i = 0; i < sum.size(); ++i)
            sum[i] += h->buckets[i];
    }
    return sum;
}

const std::vector<double>& metric_set::bucket_bounds()
{
    return seconds_bounds;
}

std::string metric_set::to_prometheus() const
{
    constexpr std::string_view type_names[] = {"counter", "gauge", "histogram"};
    std::string out;
    for (const auto& [name, family] : families_) {
        out += "# HELP " + name + ' ';
        append_escaped(out, family.help, false);
        out += "\n# TYPE " + name + ' ';
        out += type_names[static_cast<std::size_t>(family.what)];
        out += '\n';
        for (const auto& [labels, number] : family.numbers)
            append_series(out, name, "", labels, number->value);
        for (const auto& [labels, h] : family.histograms)
            append_histogram(out, name, labels, *h);
    }
    return out;
}

}  // namespace restante
