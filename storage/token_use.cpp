#include "storage/token_use.hpp"

namespace restante {

namespace {

const statement use_grant{"use_upload_grant", "SELECT use_upload_grant($1::uuid, $2::int8, $3::int8)"};
const statement check_ends{"check_token_ends", "SELECT check_token_ends($1::uuid[])"};

}  // namespace

void queue_grant_use(pq::transaction& tx, const used_token& grant, std::span<const new_file> files)
{
    std::uint64_t bytes = 0;
    for (const auto& file : files)
        bytes += file.content->size();
    const pq::parameters with(grant.id, static_cast<std::int64_t>(files.size()),
                              static_cast<std::int64_t>(bytes));
    tx.queue(use_grant, with);
}

void queue_end_check(pq::transaction& tx, std::span<const uuid> tokens)
{
    const pq::parameters with(tokens);
    tx.queue(check_ends, with);
}

}  // namespace restante
