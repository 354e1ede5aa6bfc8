#pragma once

#include "bench/client.hpp"
#include "bench/options.hpp"
#include "bench/progress.hpp"
#include "bench/report.hpp"

#include <span>

namespace restante::bench {

// Everything that a scenario needs besides its argument.
struct scenario_context {
    const options& opts;
    target server;
    process_monitor processes;
    progress_line& progress;
};

// Measures one workload. The argument is the text after the colon, or empty. Throws failure if the server
// cannot be measured at all; single requests that fail are counted.
using scenario_function = std::vector<measurement> (*)(const scenario_context& context,
                                                       const std::string& argument);

struct scenario {
    const char* name;
    const char* argument;  // as --help shows it
    const char* help;
    scenario_function run;
};

std::span<const scenario> scenario_table();

// By the name before the colon; nullptr if there is none.
const scenario* find_scenario(const std::string& work);

std::vector<measurement> run_upload(const scenario_context& context, const std::string& argument);
std::vector<measurement> run_fetch(const scenario_context& context, const std::string& argument);
std::vector<measurement> run_poll(const scenario_context& context, const std::string& argument);
std::vector<measurement> run_mixed(const scenario_context& context, const std::string& argument);
std::vector<measurement> run_deliver(const scenario_context& context, const std::string& argument);
std::vector<measurement> run_parked(const scenario_context& context, const std::string& argument);
std::vector<measurement> run_heartbeats(const scenario_context& context, const std::string& argument);
std::vector<measurement> run_idle(const scenario_context& context, const std::string& argument);

}  // namespace restante::bench
