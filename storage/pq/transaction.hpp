#pragma once

#include "storage/pq/copy.hpp"
#include "storage/pq/pipeline.hpp"
#include "storage/pq/pool.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace restante::pq {

// A transaction on a borrowed connection. BEGIN costs no round trip: it is sent with the first statements, as
// COMMIT is with the last. Queuing statements and then committing them is one round trip in all.
//
// If left uncommitted, it returns its connection dirty and the pool rolls it back.
class transaction {
public:
    explicit transaction(lease on);
    ~transaction();
    transaction(transaction&&) noexcept;
    transaction& operator=(transaction&&) = delete;

    // Queues a statement for the next flush() or commit(). Its data is copied into libpq's buffer here.
    void queue(const statement& what, const parameters& with);

    // Sends the queued statements and returns their results, one per statement. A failure aborts the
    // transaction; failed_at() is the index of the queued statement that failed.
    awaitable<result<std::vector<result_set>>> flush();
    awaitable<result<result_set>> execute(const statement& what, const parameters& with);

    // COPY … FROM STDIN (FORMAT binary). Nothing may be queued.
    awaitable<result<copy_in>> copy(const std::string& sql);

    // Runs once, in registration order, after PostgreSQL has confirmed COMMIT, and never otherwise. A hook
    // receives the results of the statements queued for commit(); it only works in memory and must not throw.
    using commit_hook = std::function<void(std::span<const result_set>)>;
    void after_commit(commit_hook hook);

    // Sends the queued statements and COMMIT, and returns the results of those statements. Besides the errors
    // of flush() it fails with commit_outcome_unknown if the connection was lost, or memory ran out, after
    // COMMIT may have been sent, or if PostgreSQL committed without waiting for the standby to the end.
    awaitable<result<std::vector<result_set>>> commit();

    // The number of statements waiting for the next flush() or commit(), which is the index of the next one.
    std::size_t queued() const;
    std::size_t failed_at() const { return failed_at_; }
    connection& session() const { return *on_; }

private:
    void ensure_pipeline();
    void run_hooks(std::span<const result_set> results) noexcept;

    lease on_;
    std::unique_ptr<pipeline> queued_;
    std::vector<commit_hook> hooks_;
    std::size_t failed_at_ = 0;
    bool begun_ = false;
    bool begin_is_queued_ = false;
};

}  // namespace restante::pq
