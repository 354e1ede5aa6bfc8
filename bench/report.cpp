#include "bench/report.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <cmath>
#include <iomanip>
#include <sstream>

namespace restante::bench {

namespace {

namespace json = boost::json;

constexpr double mebibyte = 1024.0 * 1024.0;
constexpr std::size_t name_width = 34;

std::string fixed(double value, int digits)
{
    std::ostringstream out;
    out << std::fixed << std::setprecision(digits) << value;
    return std::move(out).str();
}

// Three significant digits, whatever the magnitude: 0.42, 12.3, 1,234.
std::string readable(double value)
{
    if (value >= 100)
        return with_commas(static_cast<std::uint64_t>(std::llround(value)));
    return fixed(value, value >= 10 ? 1 : 2);
}

std::string or_dash(const std::optional<double>& value, double unit = 1)
{
    return value ? readable(*value / unit) : "–";
}

// Counts columns and not bytes: a dash and a µ are several bytes long.
std::string padding(const std::string& text, std::size_t width)
{
    std::size_t columns = 0;
    for (const char c : text)
        columns += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    return std::string(width > columns ? width - columns : 0, ' ');
}

std::string left(const std::string& text, std::size_t width)
{
    return text + padding(text, width);
}

std::string right(const std::string& text, std::size_t width)
{
    return padding(text, width) + text;
}

double rounded(double value)
{
    return std::round(value * 1000) / 1000;
}

json::object to_json(const measurement& of)
{
    json::object row{{"work", of.work},
                     {"connections", of.connections},
                     {"seconds", rounded(of.seconds)},
                     {"requests", of.latency.count()},
                     {"rate", rounded(of.rate())},
                     {"mean_us", rounded(of.latency.mean())},
                     {"p50_us", rounded(of.latency.percentile(0.5))},
                     {"p99_us", rounded(of.latency.percentile(0.99))},
                     {"p999_us", rounded(of.latency.percentile(0.999))},
                     {"max_us", rounded(of.latency.max())},
                     {"errors", of.errors}};
    const auto add = [&row](const char* name, const std::optional<double>& value) {
        if (value)
            row[name] = rounded(*value);
    };
    add("server_cpu_us", of.server_cpu);
    add("postgres_cpu_us", of.postgres_cpu);
    add("client_cpu_us", of.client_cpu);
    add("server_peak_bytes", of.peak_bytes);
    if (!of.first_error.empty())
        row["first_error"] = of.first_error;
    for (const auto& [name, value] : of.facts)
        row[name] = rounded(value);
    return row;
}

}  // namespace

std::string with_commas(std::uint64_t number)
{
    auto text = std::to_string(number);
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
        text.insert(static_cast<std::size_t>(at), ",");
    return text;
}

double measurement::rate() const
{
    return seconds > 0 ? static_cast<double>(latency.count()) / seconds : 0;
}

void measurement::set_cpu(const usage& before, const usage& after, std::uint64_t requests)
{
    if (requests == 0)
        return;
    const double each = 1e6 / static_cast<double>(requests);
    if (before.server_cpu && after.server_cpu)
        server_cpu = (*after.server_cpu - *before.server_cpu) * each;
    if (before.postgres_cpu && after.postgres_cpu)
        postgres_cpu = (*after.postgres_cpu - *before.postgres_cpu) * each;
    client_cpu = (after.client_cpu - before.client_cpu) * each;
}

void write_table_head(std::ostream& out)
{
    out << left("", name_width) << right("conn-", 7) << right("", 9) << right("latency, ms", 27)
        << right("", 8) << right("CPU a request, µs", 24) << right("peak", 8) << '\n'
        << left("work", name_width) << right("ections", 7) << right("rate/s", 9) << right("p50", 9)
        << right("p99", 9) << right("p99.9", 9) << right("errors", 8) << right("server", 8)
        << right("postgres", 9) << right("client", 7) << right("MiB", 8) << std::endl;
}

void write_table_row(std::ostream& out, const measurement& of)
{
    const auto ms = [&of](double share) { return readable(of.latency.percentile(share) / 1000); };
    out << left(of.work, name_width) << right(with_commas(of.connections), 7) << right(readable(of.rate()), 9)
        << right(ms(0.5), 9) << right(ms(0.99), 9) << right(ms(0.999), 9) << right(with_commas(of.errors), 8)
        << right(or_dash(of.server_cpu), 8) << right(or_dash(of.postgres_cpu), 9)
        << right(or_dash(of.client_cpu), 7) << right(or_dash(of.peak_bytes, mebibyte), 8) << std::endl;
}

void write_notes(std::ostream& out, const measurement& of)
{
    for (const auto& [name, value] : of.facts)
        out << "    " << name << ": " << readable(value) << '\n';
    if (!of.first_error.empty())
        out << "    first error: " << of.first_error << '\n';
    out.flush();
}

void write_json(std::ostream& out, const std::vector<measurement>& all)
{
    json::array rows;
    for (const auto& one : all)
        rows.push_back(to_json(one));
    out << json::serialize(rows) << '\n';
}

}  // namespace restante::bench
