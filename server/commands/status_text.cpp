#include "server/commands/status_text.hpp"

#include "server/commands/plain_words.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <cmath>

namespace restante {

namespace {

namespace json = boost::json;
using std::chrono::seconds;

std::string at_most(std::int64_t number)
{
    return number < leaving_counts::most ? with_separators(number)
                                         : with_separators(leaving_counts::most) + " or more";
}

std::string line(const char* label, const std::string& text)
{
    std::string out = label;
    out.resize(12, ' ');
    return out + text + '\n';
}

std::string agents_line(const presence_counts& agents)
{
    return line("Agents", with_separators(agents.online) + " online, " + with_separators(agents.degraded) +
                              " degraded, " + with_separators(agents.offline) + " offline, " +
                              with_separators(agents.awaited) + " awaited");
}

std::string waiting_lines(const unacked_uploads& waiting)
{
    if (waiting.files == 0)
        return line("Waiting", "nothing");
    const std::string about = waiting.estimated ? "about " : "";
    std::string first = about + counted(waiting.files, "file", "files") + ", " + in_bytes(waiting.bytes);
    if (waiting.oldest_seconds)
        first += ", the oldest for " + in_words(seconds(static_cast<std::int64_t>(*waiting.oldest_seconds)));
    const std::string second = about + with_separators(waiting.never_fetched) + " never fetched, " + about +
                               with_separators(waiting.fetched()) + " fetched but not acked";
    return line("Waiting", first) + line("", second);
}

std::string fullest_line(const std::optional<fullest_workspace>& fullest)
{
    if (!fullest)
        return "";
    const auto percent = static_cast<std::int64_t>(std::floor(100 * fullest->share));
    return line("Fullest",
                to_string(fullest->id) + " has used " + std::to_string(percent) + " % of its quota");
}

std::string sweep_line(const last_sweep& sweep, timestamp now)
{
    if (!sweep.finished_at || !sweep.started_at)
        return line("Last sweep", "never");
    const auto ago = std::chrono::floor<seconds>(now - *sweep.finished_at);
    const auto took =
        std::chrono::duration_cast<std::chrono::milliseconds>(*sweep.finished_at - *sweep.started_at);
    std::string text = in_words(ago) + " ago, in " + with_separators(took.count()) +
                       " ms: " + with_separators(sweep.acked) + " acked, " + with_separators(sweep.expired) +
                       " expired";
    if (sweep.error)
        text += "; failed: " + *sweep.error;
    return line("Last sweep", text);
}

std::string replica_lines(const std::vector<replica>& replicas, timestamp now)
{
    if (replicas.empty())
        return line("Replicas", "none connected");
    std::size_t widest = 0;
    for (const auto& each : replicas)
        widest = std::max(widest, each.name.size());
    std::string out;
    for (const auto& each : replicas) {
        std::string name = each.name;
        name.resize(widest + 2, ' ');
        const auto since = std::chrono::floor<seconds>(now - each.since);
        out += line(out.empty() ? "Replicas" : "",
                    name + counted(each.connections, "connection", "connections") + " from " + each.address +
                        ", for " + in_words(since));
    }
    return out;
}

json::value when(const std::optional<timestamp>& moment)
{
    return moment ? json::value(rfc3339(*moment)) : json::value(nullptr);
}

json::object waiting_object(const unacked_uploads& waiting)
{
    return {{"files", waiting.files},
            {"bytes", waiting.bytes},
            {"never_fetched", waiting.never_fetched},
            {"fetched", waiting.fetched()},
            {"oldest_seconds",
             waiting.oldest_seconds ? json::value(*waiting.oldest_seconds) : json::value(nullptr)},
            {"estimated", waiting.estimated}};
}

json::array replica_array(const std::vector<replica>& replicas)
{
    json::array listed;
    for (const auto& each : replicas)
        listed.push_back(json::object{{"name", each.name},
                                      {"address", each.address},
                                      {"connections", each.connections},
                                      {"since", rfc3339(each.since)}});
    return listed;
}

json::value fullest_object(const std::optional<fullest_workspace>& fullest)
{
    if (!fullest)
        return nullptr;
    return {{"workspace_id", to_string(fullest->id)}, {"quota_used_ratio", fullest->share}};
}

}  // namespace

std::string status_table(const status_report& report)
{
    const auto& db = report.database;
    const auto& ws = report.workspaces;
    return line("Database", db.name + " on PostgreSQL " + db.version + ", " + in_bytes(db.bytes) +
                                ", schema " + std::to_string(db.schema)) +
           line("Workspaces", with_separators(ws.poll + ws.push) + " (" + with_separators(ws.poll) +
                                  " poll, " + with_separators(ws.push) + " push), " +
                                  with_separators(ws.removed) + " removed") +
           agents_line(ws.agents) + waiting_lines(report.waiting) + fullest_line(report.fullest) +
           line("To sweep",
                at_most(report.leaving.acked) + " acked, " + at_most(report.leaving.expired) + " expired") +
           sweep_line(report.sweep, db.now) + replica_lines(report.replicas, db.now);
}

std::string status_json(const status_report& report)
{
    const auto& db = report.database;
    const auto& sweep = report.sweep;
    const json::object output{
        {"at", rfc3339(db.now)},
        {"database",
         {{"name", db.name}, {"version", db.version}, {"bytes", db.bytes}, {"schema", db.schema}}},
        {"workspaces",
         {{"poll", report.workspaces.poll},
          {"push", report.workspaces.push},
          {"removed", report.workspaces.removed}}},
        {"agents",
         {{"online", report.workspaces.agents.online},
          {"degraded", report.workspaces.agents.degraded},
          {"offline", report.workspaces.agents.offline},
          {"awaited", report.workspaces.agents.awaited}}},
        {"waiting", waiting_object(report.waiting)},
        {"fullest", fullest_object(report.fullest)},
        {"to_sweep",
         {{"acked", report.leaving.acked},
          {"expired", report.leaving.expired},
          {"counted_up_to", leaving_counts::most}}},
        {"last_sweep",
         {{"started_at", when(sweep.started_at)},
          {"finished_at", when(sweep.finished_at)},
          {"acked", sweep.acked},
          {"expired", sweep.expired},
          {"error", sweep.error ? json::value(*sweep.error) : json::value(nullptr)}}},
        {"replicas", replica_array(report.replicas)},
    };
    return json::serialize(output) + '\n';
}

}  // namespace restante
