#pragma once

#include "core/limits.hpp"
#include "http/message/public_errors.hpp"
#include "http/multipart/boundary.hpp"
#include "http/session/body_reader.hpp"
#include "server/api/uploads/upload_grant.hpp"
#include "server/spool/spool.hpp"

#include <memory>
#include <string>
#include <vector>

namespace restante {

struct form_limits {
    std::uint64_t file_bytes = largest_file;
    std::uint64_t request_bytes = 2 * largest_file;  // content of all parts, files or not
    std::size_t files = 64;
    std::size_t parts = 80;
};

// A file of the form, as the client described it.
struct form_file {
    std::string raw_name;
    std::string raw_type;
    std::shared_ptr<spool> content;
};

// Reads a whole multipart/form-data body and gives the files of its fields named "files", in order; other
// fields are read and forgotten. Their spools share the claim. Refuses as soon as a limit is crossed, also
// one of the grant, with the answer the contract names.
awaitable<answerable<std::vector<form_file>>> read_form(body_reader& body,
                                                        const multipart::boundary& separator,
                                                        const form_limits& limits, const upload_grant& grant,
                                                        std::shared_ptr<disk_claim> disk);

}  // namespace restante
