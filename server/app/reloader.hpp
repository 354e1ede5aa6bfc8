#pragma once

#include "cli/config.hpp"
#include "server/app/shard_app.hpp"

#include <deque>

namespace restante {

// The settings once more, after the files have changed.
using settings_reader = std::function<boost::system::result<settings, setting_error>()>;

// What SIGHUP does: reads the settings and the certificate again and hands every shard what can change while
// it runs. If any of that is wrong, nothing changes. Used by the thread that waits for signals, which may
// read files.
class reloader {
public:
    reloader(const settings& started_with, settings_reader read, shard_set& shards,
             std::deque<shard_app>& apps);

    // Its outcome is in the log.
    void reload();

private:
    void apply(const settings& next);

    settings now_;
    settings_reader read_;
    shard_set& shards_;
    std::deque<shard_app>& apps_;
};

}  // namespace restante
