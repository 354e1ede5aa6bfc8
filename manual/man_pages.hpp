#pragma once

#include "manual/program_entry.hpp"

namespace restante::manual {

struct made_file {
    std::string name;
    std::string text;
};

struct edition {
    std::string date;
    std::string version;
};

// restante(1) and a page for each of its commands, restante-serve(1) and so on.
std::vector<made_file> make_man_pages(const program_entry& program, const edition& which);

// restante.conf(5).
made_file make_config_page(const edition& which);

}  // namespace restante::manual
