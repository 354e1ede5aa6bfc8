#include "storage/pq/session_facts.hpp"

namespace restante::pq {

namespace {

std::string find_fault(const session_facts& facts, const session_demands& demands)
{
    if (facts.encoding != "UTF8")
        return "the database's encoding is not UTF8";
    if (facts.fsync != "on")
        return "fsync is off: a crash would lose confirmed uploads";
    if (facts.full_page_writes != "on")
        return "full_page_writes is off: a crash could corrupt confirmed uploads";
    if (facts.commits_later)
        return "synchronous_commit is off: a crash would lose confirmed uploads";
    if (facts.commits_locally && !facts.standby_names.empty())
        return "synchronous_commit is local although synchronous_standby_names is set: a failover would lose "
               "confirmed uploads";
    if (demands.synchronous && facts.standby_names.empty())
        return "synchronous_standby_names is empty and --require-synchronous is set: a failover would lose "
               "confirmed uploads";
    return {};
}

// A standby whose state is hidden from our role may be the one that is needed.
std::string find_wait(const session_facts& facts)
{
    if (facts.standbys_there + facts.standbys_hidden >= facts.standbys_needed)
        return {};
    return "synchronous_standby_names wants " + std::to_string(facts.standbys_needed) + " standby" +
           (facts.standbys_needed == 1 ? "" : "s") + " and " + std::to_string(facts.standbys_there) +
           " confirm commits: uploads wait for one";
}

// A standby takes no commits from us, so what would lose one is no fault of it.
std::string find_fault_of_standby(const session_facts& facts, const session_demands& demands)
{
    if (!facts.standby)
        return "it is not a standby";
    if (facts.cluster == 0)
        return "which cluster it belongs to is hidden from our role (pg_control_system)";
    if (demands.foreign)
        return "it belongs to another cluster than the primary";
    if (facts.encoding != "UTF8")
        return "the database's encoding is not UTF8";
    return {};
}

}  // namespace

session_verdict judge_session(const session_facts& facts, const session_demands& demands)
{
    if (demands.role == session_role::standby) {
        const auto fault = find_fault_of_standby(facts, demands);
        return {fault, !fault.empty(), {}};
    }
    if (facts.standby)
        return {"the database is a standby: it takes no writes", true, {}};
    if (facts.read_only)
        return {"the database is read-only", true, {}};
    if (demands.replaced)
        return {"the database is on timeline " + std::to_string(facts.timeline) +
                    ", and a newer one has been seen: it is a former primary",
                true,
                {}};
    return {find_fault(facts, demands), false, find_wait(facts)};
}

}  // namespace restante::pq
