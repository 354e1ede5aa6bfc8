#include "storage/upload_change_columns.hpp"

#include "storage/digest_column.hpp"

namespace restante {

result<upload_change> read_upload_change(const pq::row& row)
{
    auto values = row.as<uuid, uuid, std::string, std::int64_t, pq::blob, timestamp, std::optional<uuid>>();
    if (!values)
        return values.error();
    auto& [workspace, file, name, size, sha256, at, staged_by] = *values;
    const auto digest = as_digest(sha256);
    if (!digest)
        return digest.error();
    return upload_change{workspace, file, std::move(name), size, *digest, at, staged_by};
}

result<std::vector<upload_change>> read_upload_changes(const pq::result_set& rows)
{
    std::vector<upload_change> changes;
    for (int i = 0; i < rows.size(); ++i) {
        auto change = read_upload_change(rows[i]);
        if (!change)
            return change.error();
        changes.push_back(std::move(*change));
    }
    return changes;
}

}  // namespace restante
