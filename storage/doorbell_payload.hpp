#pragma once

#include "core/ids.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restante {

// What servers notify each other of through PostgreSQL. All of it can also be read from the database; the
// notification only makes it quick.
struct changes {
    bool everything = false;                     // too much to name: check whatever you serve
    std::map<uuid, std::int64_t> activity = {};  // workspaces with new rows, and the number of the newest
    std::vector<uuid> revoked_tokens = {};
    std::vector<uuid> changed_workspaces = {};
    std::vector<uuid> removed_workspaces = {};

    bool empty() const;
};

struct doorbell_payload {
    uuid sender{};
    changes what;
};

// PostgreSQL refuses payloads of 8,000 bytes and more.
inline constexpr std::size_t max_payload_bytes = 7999;

// Takes out of `waiting` what one payload holds. Revoked tokens, removed and changed workspaces come first
// and are never left out: what does not fit stays for the next payload. New activity that does not fit
// becomes "everything".
std::string write_payload(const uuid& sender, changes& waiting);

// nullopt for anything that write_payload() does not write.
std::optional<doorbell_payload> read_payload(std::string_view payload);

}  // namespace restante
