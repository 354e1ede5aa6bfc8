#pragma once

#include "client/feed_row.hpp"
#include "client/partial_file.hpp"
#include "client/progress_display.hpp"
#include "client/server_api.hpp"
#include "core/worker_pool.hpp"

namespace restante::client {

// Where the files of one workspace come from and go to.
struct fetch_places {
    server_api& api;
    worker_pool& workers;
    int partials;           // directory
    std::string workspace;  // /workspaces/{id}
};

// One try to complete a partial file: what is missing is fetched, and the whole is checked. On failure the
// partial file keeps what is good of it for the next try.
//
// Fails with `gone` when the server does not have the file any more; with digest_mismatch, short_body,
// wrong_length, wrong_range, wrong_content when the server or the network lies; with those of the disk, of
// answers and of the network.
awaitable<outcome<partial_file>> fetch(fetch_places& at, const announced_file& what,
                                       progress_display::transfer& shown);

}  // namespace restante::client
