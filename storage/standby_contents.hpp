#pragma once

#include "storage/pending_uploads.hpp"
#include "storage/standby.hpp"

namespace restante {

// Reads the bytes of files on a standby. The primary has said, a moment ago, that the file may be sent, and
// what its digest is: bytes with that digest are the right ones, wherever they come from.
class standby_contents {
public:
    // For a smaller file the primary's answer costs as much without its bytes as with them.
    static constexpr std::int64_t min_bytes = 64 * 1024;

    explicit standby_contents(standby& standby) : standby_(standby) {}

    // Whether to ask at all.
    bool usable() const { return standby_.usable(); }

    // The row with the bytes, compared with the digest; nothing when the primary has to be asked for them.
    awaitable<std::optional<pq::result_set>> read(const staged_file& file);

private:
    awaitable<standby_outcome> ask(pq::connection& session, const staged_file& file,
                                   std::optional<pq::result_set>& row);

    standby& standby_;
};

}  // namespace restante
