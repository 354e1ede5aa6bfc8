#pragma once

#include "storage/pq/pool.hpp"

#include <string>

namespace restante::test {

// A new, empty database on the cluster of RESTANTE_TEST_DB; the destructor drops it and ends its sessions.
class scratch_database {
public:
    scratch_database();
    ~scratch_database();
    scratch_database(const scratch_database&) = delete;
    scratch_database& operator=(const scratch_database&) = delete;

    const std::string& conninfo() const { return conninfo_; }
    pq::connect_options options() const { return {.conninfo = conninfo_}; }

    // Runs SQL in its own session; throws on failure.
    void sql(const std::string& text) const;
    // The first column of the first row, as text.
    std::string ask(const std::string& query) const;

private:
    std::string name_;
    std::string conninfo_;
};

}  // namespace restante::test
