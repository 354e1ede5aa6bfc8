#pragma once

#include "bench/histogram.hpp"
#include "bench/usage.hpp"

#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace restante::bench {

// One line of the table.
struct measurement {
    std::string work;
    unsigned connections = 0;
    double seconds = 0;
    histogram latency;
    std::uint64_t errors = 0;
    std::string first_error;

    // Microseconds of CPU per request, averaged over all requests of this run.
    std::optional<double> server_cpu;
    std::optional<double> postgres_cpu;
    std::optional<double> client_cpu;
    std::optional<double> peak_bytes;

    // Other results of this workload: a description and a number.
    std::vector<std::pair<std::string, double>> facts;

    double rate() const;

    // Sets the CPU from two readings, between which this many requests were answered.
    void set_cpu(const usage& before, const usage& after, std::uint64_t requests);
};

void write_table_head(std::ostream& out);
void write_table_row(std::ostream& out, const measurement& of);

// Separate lines below the row, for facts and for the first error.
void write_notes(std::ostream& out, const measurement& of);

void write_json(std::ostream& out, const std::vector<measurement>& all);

// 12345678 as 12,345,678.
std::string with_commas(std::uint64_t number);

}  // namespace restante::bench
