#pragma once

#include "core/metrics.hpp"
#include "storage/content/content_store.hpp"

#include <array>
#include <map>

namespace restante {

// Which store new files go to, and up to which size they stay in their row whatever that is.
struct content_policy {
    content_place store = content_place::inline_;
    std::uint64_t inline_max = 256 * 1024;

    content_place place_for(std::uint64_t size) const
    {
        return size <= inline_max ? content_place::inline_ : store;
    }
};

// The stores of one shard: those that it can read, and the one that it writes to. What the row of a file says
// decides where it is read from, so a change of the setting moves nothing.
//
// Operations are counted here. One on a store that this server does not have fails with
// content_store_unavailable.
class content_stores {
public:
    content_stores(content_policy policy, metric_set& metrics);

    void add(std::unique_ptr<content_store> store);
    content_store* find(content_place place) const;
    std::vector<content_place> places() const;

    const content_policy& policy() const { return policy_; }

    // Whether a body of this length can be stored, as far as that is known. One that is no larger than what
    // stays in rows needs no store.
    bool has_room(std::uint64_t bytes) const;

    awaitable<error_code> write(content_place place, std::span<const content_to_store> files);
    awaitable<result<std::unique_ptr<content_reader>>> open(content_place place, stored_content what,
                                                            content_part part);
    awaitable<result<std::vector<std::string>>> remove(content_place place,
                                                       std::span<const std::string> keys);
    awaitable<result<std::vector<listed_content>>> list(content_place place, std::string after,
                                                        std::string before, std::size_t limit);

    // Bytes that no row names may be somebody else's in this store: from now on only those go that a row has
    // named. `why` is a sentence for the operator.
    void keep_leftovers(content_place place, std::string why);
    // Why leftovers are kept, where they are.
    std::optional<std::string> keeps_leftovers(content_place place) const;

    // A row has no bytes, or not those that it should have.
    void count_lost(content_place place);
    void count_orphans(content_place place, std::size_t removed);

    // Sentences about the stores that cannot be used now.
    std::vector<std::string> troubles() const;

    awaitable<void> run(task_group& tasks, content_place place);

private:
    struct outcomes {
        metric_set::number& ok;
        metric_set::number& failed;
        void count(bool success) { (success ? ok : failed).add(); }
    };
    struct counters {
        counters(metric_set& metrics, content_place place);
        outcomes writes;
        outcomes reads;
        outcomes removals;
        outcomes lists;
        metric_set::number& written_bytes;
        metric_set::number& lost;
        metric_set::number& orphans;
        metric_set::number& unavailable;
    };
    struct entry {
        std::unique_ptr<content_store> store;
        counters count;
        std::optional<std::string> keeps_leftovers = {};
    };
    entry* entry_of(content_place place);

    content_policy policy_;
    metric_set& metrics_;
    std::map<content_place, entry> stores_;
};

}  // namespace restante
