#pragma once

#include "bench/client.hpp"
#include "bench/options.hpp"
#include "bench/progress.hpp"
#include "bench/report.hpp"

#include <span>

namespace restante::bench {

// All that a scenario needs to know of the world.
struct surroundings {
    const options& given;
    target server;
    watched processes;
    progress& told;
};

// Measures one kind of work; the argument is what stands after the colon, or empty. Throws failure when the
// server cannot be measured at all; single requests that go wrong are counted.
using scenario_function = std::vector<measurement> (*)(const surroundings& world,
                                                       const std::string& argument);

struct scenario {
    const char* name;
    const char* argument;  // as --help shows it
    const char* help;
    scenario_function run;
};

std::span<const scenario> scenario_table();

// By the word before the colon; nullptr if there is none.
const scenario* find_scenario(const std::string& work);

std::vector<measurement> run_upload(const surroundings& world, const std::string& argument);
std::vector<measurement> run_fetch(const surroundings& world, const std::string& argument);
std::vector<measurement> run_poll(const surroundings& world, const std::string& argument);
std::vector<measurement> run_mixed(const surroundings& world, const std::string& argument);
std::vector<measurement> run_deliver(const surroundings& world, const std::string& argument);
std::vector<measurement> run_parked(const surroundings& world, const std::string& argument);
std::vector<measurement> run_idle(const surroundings& world, const std::string& argument);

}  // namespace restante::bench
