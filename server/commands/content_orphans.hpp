#pragma once

#include "server/commands/content_session.hpp"

#include <string>
#include <vector>

namespace restante {

// Bytes that no row named, and how far the database had come then.
struct orphan {
    std::string key;
    std::int64_t seen_at = 0;
};

// What lies in a store without a row, of hours whose rows have all come. Shows on the terminal how far it is,
// unless it is to be quiet.
awaitable<result<std::vector<orphan>>> find_orphans(content_session& on, content_place place, bool quiet);

struct orphan_removal {
    std::vector<orphan> undecided;
    std::size_t kept = 0;  // by the store

    void add(const orphan_removal& other)
    {
        undecided.insert(undecided.end(), other.undecided.begin(), other.undecided.end());
        kept += other.kept;
    }
};

// Removes those of them that no transaction can name any more. Undecided are in the end those for which one
// goes on for longer than anybody should wait.
awaitable<result<orphan_removal>> remove_orphans(content_session& on, content_place place,
                                                 std::vector<orphan> suspects, bool quiet);

}  // namespace restante
