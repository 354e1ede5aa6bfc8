#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace restante::pq {

// What a session is for: to write, or to read from a standby what others have written.
enum class session_role { primary, standby };

// What PostgreSQL says about a session and about the one that would follow it.
struct session_facts {
    bool standby = false;
    bool read_only = false;
    std::string_view encoding;
    std::string_view fsync;
    std::string_view full_page_writes;
    bool commits_later = false;    // synchronous_commit = off
    bool commits_locally = false;  // synchronous_commit = local
    std::string_view standby_names;
    std::int64_t standbys_needed = 0;
    std::int64_t standbys_there = 0;
    std::int64_t standbys_hidden = 0;  // our role may not see whether these are synchronous
    std::int32_t timeline = 0;         // 0 on a standby
    std::int64_t cluster = 0;          // 0 if our role may not ask
};

// What follows from the facts.
struct session_verdict {
    // Why a commit could be lost or is impossible; empty if it is safe.
    std::string fault;
    // Another server may be the primary, or the standby that is wanted.
    bool primary_elsewhere = false;
    // Why commits wait although they are safe; empty if they do not.
    std::string wait;
};

struct session_demands {
    bool synchronous = false;  // --require-synchronous
    bool replaced = false;     // the primary of an older timeline
    session_role role = session_role::primary;
    bool foreign = false;  // a standby of another cluster than the primary's
};

session_verdict judge_session(const session_facts& facts, const session_demands& demands);

}  // namespace restante::pq
