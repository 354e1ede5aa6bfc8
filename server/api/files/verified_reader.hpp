#pragma once

#include "storage/content/content_store.hpp"

namespace restante {

// Reads a whole file, and compares its digest with that of its row before the last bytes are passed on: a
// client never gets all of a file that is not the one that was stored. Besides the errors of `from`:
// content_lost.
std::unique_ptr<content_reader> make_verified_reader(std::unique_ptr<content_reader> from,
                                                     const stored_content& what);

}  // namespace restante
