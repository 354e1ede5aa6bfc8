#pragma once

#include "cli/settings.hpp"
#include "core/startup_failure.hpp"
#include "server/spool/spool_budget.hpp"
#include "storage/content/content_directory.hpp"
#include "storage/content/content_stores.hpp"
#include "storage/content/s3/s3_store.hpp"
#include "storage/pq/pool.hpp"

namespace restante {

content_policy content_policy_of(const settings& config);

// A server makes the directory of its store. A command must not: it would make an empty one where its
// settings are wrong, miss every file there, or move files to where no server looks.
enum class missing_directory { is_made, is_refused };

// What the content stores of all shards share.
struct content_setup {
    std::shared_ptr<content_directory> directory;  // nullptr: none
    bool directory_is_named = false;               // by a setting; if not, it may be that of another database
    std::shared_ptr<s3_bucket> objects;            // nullptr: none

    // Opens what the settings name, and the directory also when only older files lie there. A directory that
    // is not there is refused only where a setting names it; by default there may have been none so far.
    static startup_result<content_setup> open(const settings& config,
                                              missing_directory how = missing_directory::is_made);

    // The stores of one shard.
    void add_stores(content_stores& to, executor ex, pq::connection_pool& db) const;

    // Reads again what may change while the server runs.
    void reload() const;

    // Where files are received so that they need not be copied.
    std::optional<store_directory> received_in(const settings& config) const;
};

}  // namespace restante
