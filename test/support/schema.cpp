#include "test/support/schema.hpp"

#include "storage/embedded_sql.hpp"

namespace restante::test {

void apply_schema(const scratch_database& db, int up_to)
{
    for (const auto& file : embedded_sql()) {
        if (file.name.ends_with(".up.sql") && std::stoi(std::string(file.name.substr(0, 4))) <= up_to)
            db.sql(std::string(file.text));
    }
}

}  // namespace restante::test
