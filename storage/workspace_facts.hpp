#pragma once

#include "core/error.hpp"
#include "core/ids.hpp"

#include <optional>
#include <string_view>

namespace restante {

namespace pq {
class row;
}

enum class delivery_mode {
    none,  // NULL or '': a row from before the modes existed
    poll,
    push,
};

std::string_view to_string(delivery_mode mode) noexcept;
std::optional<delivery_mode> parse_delivery_mode(std::string_view text) noexcept;

// What a request must know of its workspace before it reads a body.
struct workspace_facts {
    uuid id{};
    delivery_mode mode = delivery_mode::none;
    bool has_url = false;
    bool can_stage = false;  // the table of staged files is there
    bool removed = false;
};

// Reads id, delivery_mode, "has a url", "can stage" and "is removed" from five columns in a row.
result<workspace_facts> read_workspace_facts(const pq::row& from, int first_column);

}  // namespace restante
