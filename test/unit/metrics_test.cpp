#include "core/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>

namespace restante {
namespace {

std::vector<std::string> lines_of(const std::string& text)
{
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

TEST(metrics, counters_and_gauges_as_text)
{
    metric_set m;
    m.counter("molecule_x_total", "How many x.", {{"outcome", "b"}}).add();
    m.counter("molecule_x_total", "How many x.", {{"outcome", "a"}}).add(2);
    m.gauge("molecule_g", "A gauge.").set(-0.25);
    EXPECT_EQ(m.to_prometheus(),
              "# HELP molecule_g A gauge.\n"
              "# TYPE molecule_g gauge\n"
              "molecule_g -0.25\n"
              "# HELP molecule_x_total How many x.\n"
              "# TYPE molecule_x_total counter\n"
              "molecule_x_total{outcome=\"a\"} 2\n"
              "molecule_x_total{outcome=\"b\"} 1\n");
}

TEST(metrics, the_same_labels_are_the_same_series)
{
    metric_set m;
    auto& first = m.counter("c", "h", {{"a", "1"}});
    for (int i = 0; i < 100; ++i)
        m.counter("c", "h", {{"a", "x" + std::to_string(i)}});
    EXPECT_EQ(&first, &m.counter("c", "h", {{"a", "1"}}));
}

TEST(metrics, a_name_has_one_kind)
{
    metric_set m;
    m.counter("c", "h");
    EXPECT_THROW(m.gauge("c", "h"), std::logic_error);
    EXPECT_THROW(m.seconds("c", "h"), std::logic_error);
}

TEST(metrics, labels_and_help_are_escaped)
{
    metric_set m;
    m.counter("c", "back\\slash, \"quotes\",\nline", {{"l", "a\\b\"c\nd"}}).add();
    EXPECT_EQ(m.to_prometheus(),
              "# HELP c back\\\\slash, \"quotes\",\\nline\n"
              "# TYPE c counter\n"
              "c{l=\"a\\\\b\\\"c\\nd\"} 1\n");
}

TEST(metrics, numbers_of_any_size)
{
    metric_set m;
    m.gauge("a", "h").set(26'214'400.0 * 1000);
    m.gauge("b", "h").set(1e300);
    m.gauge("c", "h").set(INFINITY);
    m.gauge("d", "h").set(NAN);
    m.gauge("e", "h").set(-INFINITY);
    const auto text = m.to_prometheus();
    for (const char* line : {"a 26214400000\n", "b 1e+300\n", "c +Inf\n", "d NaN\n", "e -Inf\n"})
        EXPECT_NE(text.find(line), std::string::npos) << line;
}

TEST(metrics, a_bucket_counts_what_is_at_most_its_bound)
{
    metric_set m;
    auto& h = m.seconds("t_seconds", "Time.", {{"path", "/x"}});
    h.observe(0);
    h.observe(0.0005);
    h.observe(0.00051);
    h.observe(60);
    h.observe(61);
    const auto text = m.to_prometheus();
    for (const char* line :
         {"t_seconds_bucket{path=\"/x\",le=\"0.0005\"} 2\n", "t_seconds_bucket{path=\"/x\",le=\"0.001\"} 3\n",
          "t_seconds_bucket{path=\"/x\",le=\"30\"} 3\n", "t_seconds_bucket{path=\"/x\",le=\"60\"} 4\n",
          "t_seconds_bucket{path=\"/x\",le=\"+Inf\"} 5\n", "t_seconds_count{path=\"/x\"} 5\n"})
        EXPECT_NE(text.find(line), std::string::npos) << line << text;
    EXPECT_NE(text.find("# TYPE t_seconds histogram\n"), std::string::npos);
    EXPECT_NE(text.find("t_seconds_sum{path=\"/x\"} 121.00101"), std::string::npos) << text;
}

TEST(metrics, shards_are_added_up)
{
    metric_set a, b, sum;
    a.counter("c", "h").add(1);
    b.counter("c", "h").add(2);
    b.counter("only_b", "h", {{"l", "v"}}).add(5);
    a.gauge("g", "h").set(3);
    b.gauge("g", "h").set(4);
    a.seconds("t", "h").observe(0.002);
    b.seconds("t", "h").observe(0.002);
    b.seconds("t", "h").observe(100);
    sum.merge(a);
    sum.merge(b);
    EXPECT_EQ(sum.counter("c", "h").value, 3);
    EXPECT_EQ(sum.counter("only_b", "h", {{"l", "v"}}).value, 5);
    EXPECT_EQ(sum.gauge("g", "h").value, 7);
    EXPECT_NE(sum.to_prometheus().find("t_bucket{le=\"0.0025\"} 2\n"), std::string::npos);
    EXPECT_NE(sum.to_prometheus().find("t_count 3\n"), std::string::npos);
    EXPECT_EQ(a.counter("c", "h").value, 1);
}

// The rules that promtool checks: one HELP and TYPE per family, before its samples, no series twice, every
// line well-formed, histogram buckets that never decrease and end with +Inf = count.
TEST(metrics, a_strict_parser_accepts_the_whole_text)
{
    metric_set m;
    for (const char* path : {"/workspaces/{id}/chat/uploads", "/healthz", "/weird\"\\\n"}) {
        m.counter("molecule_http_requests_total", "Requests.", {{"method", "GET"}, {"path", path}}).add();
        m.seconds("molecule_http_request_duration_seconds", "Time.", {{"path", path}}).observe(0.3);
    }
    m.gauge("molecule_websocket_connections_active", "Sockets.").set(2);

    const std::regex comment(R"(# (HELP|TYPE) ([a-z_]+) (.+))");
    const std::regex sample(R"(([a-z_]+)(\{([a-z]+="([^"\\]|\\\\|\\"|\\n)*",?)+\})? ([-+0-9.eInfNa]+))");
    std::set<std::string> seen;
    std::string family;
    double last_bucket = 0;
    for (const auto& line : lines_of(m.to_prometheus())) {
        std::smatch match;
        if (std::regex_match(line, match, comment)) {
            EXPECT_TRUE(seen.insert(match[1].str() + match[2].str()).second) << line;
            family = match[2];
            continue;
        }
        ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
        EXPECT_EQ(match[1].str().rfind(family, 0), 0u) << line;
        EXPECT_TRUE(seen.insert(match[1].str() + match[2].str()).second) << line;
        if (match[1].str().ends_with("_bucket")) {
            EXPECT_GE(std::stod(match[5]), last_bucket) << line;
            last_bucket = std::stod(match[5]);
        } else if (match[1].str().ends_with("_count")) {
            EXPECT_EQ(std::stod(match[5]), last_bucket) << line;
            last_bucket = 0;
        }
    }
    EXPECT_EQ(seen.count("TYPEmolecule_http_request_duration_seconds"), 1u);
}

// Gauges whose value is kept elsewhere are read on each scrape, not before.
TEST(metrics, figures_are_refreshed_on_request)
{
    metric_set metrics;
    auto& level = metrics.gauge("level", "How high it stands.");
    double elsewhere = 1;
    metrics.before_scrape([&] { level.set(elsewhere); });
    elsewhere = 7;
    EXPECT_EQ(level.value, 0);
    metrics.refresh();
    EXPECT_EQ(level.value, 7);
}

}  // namespace
}  // namespace restante
