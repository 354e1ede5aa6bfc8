#pragma once

#include "client/failure.hpp"
#include "core/ids.hpp"

#include <boost/json/object.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace restante::client {

// A staged file, as its row announces it.
struct announced_file {
    uuid id;
    std::string name;  // sanitized, whoever has done that before; safe_name() makes it a name on disk
    std::string mime_type;
    std::uint64_t size = 0;
    std::string sha256;  // lower-case hexadecimal; empty when the server does not say, as old ones do not
    bool bad_digest = false;  // it says something that is none
};

struct feed_row {
    uuid id;
    boost::json::object json;                 // the whole row
    std::optional<announced_file> file = {};  // it announces one
    bool message = false;                     // somebody says something to the workspace
    // Neither: what the workspace itself has reported; it is passed over.
};

// The rows of a page, oldest first. Fails with `bad_answer` when it is not an array of rows, or of too many.
outcome<std::vector<feed_row>> parse_page(std::string_view body);

}  // namespace restante::client
