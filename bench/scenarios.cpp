#include "bench/scenarios.hpp"

#include <algorithm>

namespace restante::bench {

namespace {

constexpr scenario table[] = {
    {"upload", ":[Nx]SIZE", "requests with N files of SIZE each: upload:10KiB, upload:3x10KiB", run_upload},
    {"fetch", ":SIZE", "the content of files of SIZE, 4 per workspace", run_fetch},
    {"poll", ":ROWS", "the feed after a cursor, which returns ROWS rows", run_poll},
    {"mixed", "", "12 polls, 4 uploads of 10 KiB and 4 fetches of 10 KiB in every 20 requests", run_mixed},
    {"deliver", ":SIZE",
     "parked poll, upload, fetch: time from the upload's answer to the last byte of the fetch", run_deliver},
    {"parked", ":COUNT", "COUNT parked polls, each of its own workspace, woken one by one by uploads",
     run_parked},
    {"heartbeats", ":COUNT", "COUNT agents that send a heartbeat every 30 s each; takes 3 minutes",
     run_heartbeats},
    {"idle", ":COUNT", "COUNT connections that sent one request and stay open: memory of each", run_idle},
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
