#include "server/api/admin/page_mark.hpp"
#include "server/api/admin/series_json.hpp"
#include "server/series/recent_series.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace restante {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

const timestamp noon = slot_of(timestamp(1'800'000'000s));

series_point point_at(timestamp slot, std::int64_t requests)
{
    series_point point{.slot = slot, .servers = 1};
    point[figure::requests] = requests;
    point[figure::waiting_bytes] = 100 + requests;
    return point;
}

TEST(series, a_point_is_what_happened_in_between)
{
    metric_set metrics;
    auto& good = metrics.counter("molecule_http_requests_total", "", {{"path", "/x"}, {"status", "200"}});
    auto& bad = metrics.counter("molecule_http_requests_total", "", {{"path", "/x"}, {"status", "503"}});
    auto& bytes = metrics.counter("molecule_uploaded_bytes_total", "");
    auto& sockets = metrics.gauge("molecule_websocket_connections_active", "");
    auto& quick = metrics.seconds("molecule_http_request_duration_seconds", "", {{"path", "/x"}});
    auto& parked = metrics.seconds("molecule_http_request_duration_seconds", "",
                                   {{"path", "/workspaces/{id}/activity"}});
    good.add(5), bytes.add(1000), sockets.set(7), quick.observe(0.002);
    const auto before = read_figures(metrics);
    good.add(3), bad.add(2), bytes.add(24), sockets.set(4), quick.observe(0.002), parked.observe(30);
    const auto between = difference(before, read_figures(metrics));
    EXPECT_EQ(between[figure::requests], 5);
    EXPECT_EQ(between[figure::errors], 2);
    EXPECT_EQ(between[figure::bytes], 24);
    EXPECT_EQ(between[figure::websockets], 4) << "a state is not a difference";
    EXPECT_LE(between.quantile(0.99), 0.0025) << "a parked poll is not slow";
}

TEST(series, servers_are_added_up_and_the_database_is_not)
{
    auto sum = point_at(noon, 10);
    sum.add(point_at(noon, 30));
    EXPECT_EQ(sum.servers, 2);
    EXPECT_EQ(sum[figure::requests], 40);
    EXPECT_EQ(sum[figure::waiting_bytes], 130);
}

TEST(series, quantiles_are_found_within_their_bucket)
{
    series_point point{.slot = noon, .servers = 1};
    EXPECT_LT(point.quantile(0.5), 0) << "no requests";
    point.buckets.resize(metric_set::bucket_bounds().size() + 1);
    point.buckets[4] = 100;  // 5 to 10 ms
    EXPECT_NEAR(point.quantile(0.5), 0.0075, 1e-9);
    point.buckets.back() = 100;
    EXPECT_EQ(point.quantile(0.99), metric_set::bucket_bounds().back()) << "as far as it is known";
}

TEST(series, rows_of_other_versions_can_be_read)
{
    const auto point = point_at(noon, 3);
    EXPECT_EQ(to_point(to_row(point)).figures, point.figures);
    EXPECT_EQ(to_point({noon, {1}, {}})[figure::requests], 1);
    const std::vector<std::int64_t> many(100, 9);
    EXPECT_EQ(to_point({noon, many, many})[figure::waiting_bytes], 9);
}

TEST(series, json_has_a_column_for_each_figure_and_null_for_gaps)
{
    const std::vector<series_point> points{point_at(noon - 10s, 1), point_at(noon, 2), point_at(noon, 3),
                                           point_at(noon + 20s, 4), point_at(noon + 90s, 5)};
    const auto text = series_json(add_up(points, noon, 3), noon, true);
    const auto body = json::parse(text).as_object();
    EXPECT_EQ(json::serialize(body.at("requests")), "[5,null,4]");
    EXPECT_EQ(json::serialize(body.at("servers")), "[2,0,1]");
    EXPECT_EQ(json::serialize(body.at("p99_us")), "[null,null,null]");
    EXPECT_EQ(body.at("from").as_string(), rfc3339(noon));
    for (const auto name : figure_names)
        EXPECT_EQ(body.at(name).as_array().size(), 3u) << name;
}

TEST(series, three_hours_are_remembered)
{
    recent_series recent;
    for (int i = 0; i < 2000; ++i)
        recent.add(point_at(noon + i * series_step, i));
    const auto all = recent.since(noon);
    ASSERT_EQ(all.size(), 1080u);
    EXPECT_EQ(all.front()[figure::requests], 920);
    EXPECT_EQ(recent.since(noon + 1999 * series_step).size(), 1u);
}

TEST(page_mark, is_read_as_it_is_written)
{
    const uuid id = make_uuid_v4();
    for (const auto& rank : {std::optional<std::int64_t>(), std::optional<std::int64_t>(0),
                             std::optional<std::int64_t>(1'800'000'000'000'000)}) {
        const auto read = parse_page_mark(write_page_mark({rank, id}));
        ASSERT_TRUE(read);
        EXPECT_EQ(read->rank, rank);
        EXPECT_EQ(read->id, id);
    }
    for (const auto* bad :
         {"", "x", "1.", ".", "-1.00000000-0000-4000-8000-000000000000", "99999999999999999999.x"})
        EXPECT_FALSE(parse_page_mark(bad)) << bad;
}

}  // namespace
}  // namespace restante
