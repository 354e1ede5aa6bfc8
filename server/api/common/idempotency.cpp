#include "server/api/common/idempotency.hpp"

#include <algorithm>

namespace restante {

answerable<std::optional<std::string>> read_idempotency_key(const request_context& req)
{
    const auto [first, last] = req.head().equal_range("Idempotency-Key");
    if (first == last)
        return std::optional<std::string>();
    const std::string_view key = first->value();
    const bool visible = std::all_of(key.begin(), key.end(), [](char c) { return c > 0x20 && c < 0x7F; });
    if (std::next(first) != last || key.empty() || key.size() > 128 || !visible)
        return refusal(errc::bad_request,
                       "Idempotency-Key must be 1 to 128 visible ASCII characters, given once");
    return std::optional<std::string>(key);
}

void mark_as_replay(response& answer)
{
    answer.head.set("Idempotency-Replayed", "true");
}

refusal refusal_of_write(const error_code& ec)
{
    // The workspace may have lost its table between the check and the write: the answer is the same.
    if (ec == errc::schema_missing)
        return errc::no_callback_url;
    if (ec == errc::commit_outcome_unknown)
        return {errc::commit_outcome_unknown, {{"stored", "unknown"}}};
    return ec;
}

}  // namespace restante
