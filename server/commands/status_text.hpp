#pragma once

#include "storage/status.hpp"

#include <string>

namespace restante {

// The report as a table for people, and as one JSON object for programs.
std::string status_table(const status_report& report);
std::string status_json(const status_report& report);

}  // namespace restante
