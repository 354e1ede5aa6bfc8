// Rows of files that are sent as statement parameters, several in one statement: PostgreSQL sets a statement
// up, and parses the table's CHECKs, once for all of its rows.
#include "core/fault_point.hpp"
#include "storage/digest_column.hpp"
#include "storage/pending_uploads.hpp"

#include <algorithm>
#include <array>

namespace restante {

namespace {

// A session prepares a statement for each number of rows that it comes across, so there must not be many.
// Most groups fit into one.
constexpr std::size_t most_rows = 8;

// The first parameter, the time that files live, is shared by all rows.
constexpr std::array column_types{"uuid",  "uuid", "bytea", "int8", "text", "text",
                                  "bytea", "text", "uuid",  "uuid", "text", "text"};

std::string make_insert(std::size_t rows)
{
    std::string text =
        "INSERT INTO pending_uploads (file_id, workspace_id, content, size_bytes, filename, mimetype, sha256, "
        "original_name, activity_id, staged_by, content_place, content_key, expires_at) VALUES ";
    std::size_t parameter = 2;
    for (std::size_t row = 0; row < rows; ++row) {
        text += row == 0 ? "(" : ", (";
        for (const char* type : column_types)
            text += "$" + std::to_string(parameter++) + "::" + type + ", ";
        text += "now() + $1::int8 * interval '1 microsecond')";
    }
    return text;
}

// The texts and names that statements refer to, made once.
class insert_statements {
public:
    insert_statements()
    {
        for (std::size_t rows = 1; rows <= most_rows; ++rows) {
            names_[rows - 1] = "insert_files_" + std::to_string(rows);
            texts_[rows - 1] = make_insert(rows);
        }
    }
    statement for_rows(std::size_t rows) const
    {
        return {names_[rows - 1].c_str(), texts_[rows - 1].c_str()};
    }

private:
    std::array<std::string, most_rows> names_;
    std::array<std::string, most_rows> texts_;
};

statement insert_files(std::size_t rows)
{
    static const insert_statements made;
    return made.for_rows(rows);
}

void add_row(pq::parameters& to, const file_of_workspace& row)
{
    const new_file& file = *row.file;
    to.add(file.file_id);
    to.add(row.workspace);
    to.add(file.is_inline() ? file.content->in_memory() : std::nullopt);
    to.add(static_cast<std::int64_t>(file.content->size()));
    to.add(file.filename);
    to.add(file.mimetype);
    to.add(as_blob(file.sha256));
    to.add(file.original_name);
    to.add(file.activity_id);
    to.add(file.staged_by);
    to.add(name_of(file.place));
    to.add(file.is_inline() ? std::nullopt : std::optional<std::string_view>(file.key));
    fault_point("row_written");
}

}  // namespace

void pending_uploads::queue_rows_tx(pq::transaction& tx, std::span<const file_of_workspace> files)
{
    while (!files.empty()) {
        const auto now = files.first(std::min(files.size(), most_rows));
        files = files.subspan(now.size());
        pq::parameters with;
        with.reserve(1 + now.size() * column_types.size());
        with.add(static_cast<std::int64_t>(ttl_.count()));
        for (const auto& row : now)
            add_row(with, row);
        tx.queue(insert_files(now.size()), with);
    }
}

}  // namespace restante
