#include "bench/scenarios.hpp"

#include <algorithm>

namespace restante::bench {

namespace {

constexpr scenario table[] = {
    {"upload", ":[Nx]SIZE", "one request with N files of SIZE each: upload:10KiB, upload:3x10KiB",
     run_upload},
    {"fetch", ":SIZE", "the content of files of SIZE, 4 for each workspace", run_fetch},
    {"poll", ":ROWS", "the feed after a cursor that has ROWS rows behind it", run_poll},
    {"mixed", "", "of 20 requests 12 polls, 4 uploads of 10 KiB, 4 fetches of 10 KiB", run_mixed},
    {"deliver", ":SIZE",
     "parked poll, upload, fetch: from the upload's answer until the workspace has the bytes", run_deliver},
    {"parked", ":COUNT", "COUNT parked polls, each of its own workspace, woken one by one by uploads",
     run_parked},
    {"idle", ":COUNT", "COUNT connections that were answered once and stay: memory for each", run_idle},
};

}  // namespace

std::span<const scenario> scenario_table()
{
    return table;
}

const scenario* find_scenario(const std::string& work)
{
    const auto name = work.substr(0, work.find(':'));
    const auto at =
        std::find_if(std::begin(table), std::end(table), [&](const scenario& s) { return s.name == name; });
    return at == std::end(table) ? nullptr : at;
}

}  // namespace restante::bench
