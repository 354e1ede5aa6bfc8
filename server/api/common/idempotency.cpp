#include "server/api/common/idempotency.hpp"

#include "core/encoding.hpp"
#include "core/sha256.hpp"
#include "server/api/common/caller.hpp"
#include "server/api/common/peer_access.hpp"

#include <algorithm>

namespace restante {

namespace {

// A space keeps these keys apart from those of clients.
std::string own_key(const uuid& owner, std::string_view key)
{
    return "sender " + to_hex(sha256_of(to_string(owner) + std::string(key)));
}

}  // namespace

std::string stored_key(const principal& caller, const uuid& target, std::string_view key)
{
    if (caller.sees_own_files_only())
        return own_key(caller.token, key);
    if (const auto peer = speaking_peer(caller, target))
        return own_key(*peer, key);
    return std::string(key);
}

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
    return std::optional<std::string>(stored_key(caller_of(req), req.workspace_id(), key));
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
    return ec;
}

}  // namespace restante
