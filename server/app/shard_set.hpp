#pragma once

#include "core/error.hpp"
#include "server/app/shard.hpp"

#include <memory>
#include <string>
#include <vector>

namespace restante {

// All shards of the process.
class shard_set {
public:
    shard_set(unsigned count, const shard_limits& of_the_process);
    ~shard_set();

    std::size_t size() const { return shards_.size(); }
    shard& operator[](std::size_t index) { return *shards_[index]; }
    std::vector<executor> executors();

    void start();
    void set_tls(const tls_context& context);
    void stop(std::chrono::milliseconds grace);
    bool join();  // false if one of them could not end in order

    // Runs on `home`: asks every shard for its figures and adds them up. Error: no_room when one did not
    // answer within two seconds.
    awaitable<result<std::shared_ptr<const metric_set>>> collect(executor home);
    // The same as Prometheus' text.
    awaitable<result<std::string>> scrape(executor home);

private:
    std::vector<std::unique_ptr<shard>> shards_;
};

}  // namespace restante
