#pragma once

#include "core/ids.hpp"

#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>

namespace restante {

// The Idempotency-Keys whose uploads this process is working on. A second request with such a key is asked to
// retry later, instead of sending megabytes that would turn out to be a repetition. Other processes are
// excluded by the key's row in the database; this only saves the work.
//
// Shared by all shards under a mutex, which only requests with a key touch, for the time of one set
// operation.
class running_keys {
public:
    // Holds a key until it is destroyed; a request without a key holds none.
    class claim {
    public:
        claim() = default;
        claim(running_keys& from, std::string entry) : from_(&from), entry_(std::move(entry)) {}
        claim(claim&& other) noexcept
            : from_(std::exchange(other.from_, nullptr)), entry_(std::move(other.entry_))
        {
        }
        claim& operator=(claim&&) = delete;
        ~claim();

    private:
        running_keys* from_ = nullptr;
        std::string entry_;
    };

    // Nothing when the key is in use.
    std::optional<claim> try_claim(const uuid& workspace, const std::optional<std::string>& key);

private:
    std::mutex guard_;
    std::unordered_set<std::string> entries_;
};

}  // namespace restante
