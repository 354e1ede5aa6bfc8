#pragma once

#include "cli/command_line.hpp"
#include "core/asio.hpp"
#include "server/app/content_setup.hpp"
#include "storage/content_rows.hpp"

#include <functional>
#include <string>

namespace restante {

// What the commands about content work with.
struct content_session {
    content_rows& rows;
    content_stores& stores;
    const content_setup& setup;
    std::string& trouble;  // what to tell the operator of a store that ends the work
};

// Asks a store from which one file could not be read whether it gives out anything: if so, it is the file.
awaitable<bool> can_be_read(const content_session& on, content_place place);

// The error of an operation on this store, for whoever gives up because of it: notes which store it was, and
// why it cannot be used.
error_code store_failed(const content_session& on, content_place place, const error_code& ec);

// Opens the database and the stores that the settings name, runs the work and gives its exit code; an error
// that it returns is reported on stderr.
int with_content(const settings& config, std::function<awaitable<result<int>>(content_session)> work);

}  // namespace restante
