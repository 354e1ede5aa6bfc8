#include "storage/standby_contents.hpp"

namespace restante {

namespace {

const statement read_content{"replica_content",
                             "SELECT content FROM pending_uploads WHERE file_id = $1::uuid AND "
                             "workspace_id = $2::uuid AND content IS NOT NULL"};

}  // namespace

awaitable<std::optional<pq::result_set>> standby_contents::read(const staged_file& file)
{
    std::optional<pq::result_set> row;
    const auto session = co_await standby_.begin_read();
    if (!session)
        co_return row;
    const auto outcome = co_await ask(**session, file, row);
    standby_.count(outcome);
    if (outcome != standby_outcome::served)
        row.reset();
    co_return row;
}

awaitable<standby_outcome> standby_contents::ask(pq::connection& session, const staged_file& file,
                                                 std::optional<pq::result_set>& row)
{
    const pq::parameters with(file.file_id, file.workspace_id);
    auto found = co_await session.execute(read_content, with);
    if (!found)
        co_return standby_outcome::failed;
    if (found->empty())  // not replayed yet, or swept meanwhile
        co_return standby_outcome::behind;
    row.emplace(std::move(*found));
    const auto bytes = (*row)[0][0].as<pq::blob>();
    const bool same = bytes && sha256_of({bytes->data(), bytes->size()}) == file.sha256;
    co_return same ? standby_outcome::served : standby_outcome::wrong;
}

}  // namespace restante
