#pragma once

#include "storage/content/s3/circuit.hpp"
#include "storage/content/s3/verdict.hpp"

#include <atomic>
#include <mutex>
#include <optional>
#include <string>

namespace restante::s3 {

enum class access { read, write };

// What all shards know of the store: whether it is worth asking. Five failures in a row make it unavailable,
// with an attempt every second; a full store takes no writes, with an attempt every five. Changes are logged
// once.
class health {
public:
    static constexpr unsigned failures_to_open = 5;
    static constexpr auto retry_interval = std::chrono::seconds(1);
    static constexpr auto full_interval = std::chrono::seconds(5);
    static constexpr auto full_believed = std::chrono::seconds(60);
    static constexpr auto quiet_interval = std::chrono::seconds(10);

    // Whether to make an attempt now; while the store is away, one caller a second gets a yes.
    bool admit(access how);
    void note(access how, const judgement& said);

    // Whether admit() would say no for a while: asked before a body is read.
    bool refuses(access how) const;
    // What is wrong, while something is.
    std::optional<std::string> trouble() const;

    // Whether to ask the store for a sign of life; a yes is for one caller. While it is in doubt that is
    // several times a second, while it is away once, and else after some time without a call.
    bool wants_probe();

private:
    using clock = std::chrono::steady_clock;

    mutable std::mutex mutex_;
    circuit all_{failures_to_open, retry_interval};
    circuit writes_{1, full_interval};
    bool is_full(clock::time_point now) const { return writes_.open() && now < full_until_; }

    clock::time_point full_until_{};  // unless it says so again
    clock::time_point last_note_{};
    bool doubtful_ = true;
    std::string words_;
    std::string logged_;
};

}  // namespace restante::s3
