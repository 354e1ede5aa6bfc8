#pragma once

#include "core/asio.hpp"
#include "core/error.hpp"

#include <functional>

namespace restante {

// Does work(0) … work(count - 1), at most `most` of them at the same time. After the first error, which is
// returned, nothing more is begun; it returns when everything that was begun has ended. A caller that is
// cancelled cancels them: what `work` refers to must be kept by it.
awaitable<error_code> do_at_once(std::size_t count, std::size_t most,
                                 std::function<awaitable<error_code>(std::size_t)> work);

}  // namespace restante
