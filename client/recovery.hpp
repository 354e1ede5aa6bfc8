#pragma once

#include <cstdint>
#include <optional>

namespace restante::client {

// What an earlier run may have left behind of a file.
struct left_behind {
    bool placing = false;  // the journal says that it was about to be moved into the directory
    std::optional<std::uint64_t> partial_size = {};  // of the partial file, if there is one
    bool is_in_directory = false;  // the partial file and the one in the directory are the same file
};

enum class next_step {
    fetch,   // from the beginning
    resume,  // the partial file is shorter than the file
    verify,  // it is complete, and may or may not be right
    finish,  // it is in the directory: run the command, ack
};

// The state of a file is where its bytes are. A partial file and its entry are synced before the journal
// says "placing", and one rename moves it; so once the journal says that, a partial file that is gone was moved.
// Whether it still is in the directory does not matter: somebody may have taken it from there already.
constexpr next_step after_restart(const left_behind& found, std::uint64_t size)
{
    if (found.placing && (!found.partial_size || found.is_in_directory))
        return next_step::finish;
    if (!found.partial_size || *found.partial_size == 0 || *found.partial_size > size)
        return size == 0 && found.partial_size ? next_step::verify : next_step::fetch;
    return *found.partial_size == size ? next_step::verify : next_step::resume;
}

}  // namespace restante::client
