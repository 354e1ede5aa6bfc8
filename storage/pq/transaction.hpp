#pragma once

#include "storage/pq/copy.hpp"
#include "storage/pq/pipeline.hpp"
#include "storage/pq/pool.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace restante::pq {

// A transaction on a borrowed connection. BEGIN costs no round trip: it travels with the first statements, as
// COMMIT does with the last. What is queued and then committed is one round trip in all.
//
// Left uncommitted, it hands its connection back dirty and the pool rolls it back.
class transaction {
public:
    explicit transaction(lease on);
    ~transaction();
    transaction(transaction&&) noexcept;
    transaction& operator=(transaction&&) = delete;

    // Queues a statement for the next flush() or commit(). Its data is copied into libpq's buffer here.
    void queue(const statement& what, const parameters& with);

    // Sends what is queued; the results, one a statement. A failure aborts the transaction; failed_at() tells
    // which of the queued statements it was.
    awaitable<result<std::vector<result_set>>> flush();
    awaitable<result<result_set>> execute(const statement& what, const parameters& with);

    // COPY … FROM STDIN (FORMAT binary). Nothing may be queued.
    awaitable<result<copy_in>> copy(const std::string& sql);

    // Run once, in the order given, when PostgreSQL has confirmed COMMIT, and never otherwise. A hook sees
    // the results of what was queued for commit(); it does memory work only and must not throw.
    using commit_hook = std::function<void(std::span<const result_set>)>;
    void after_commit(commit_hook hook);

    // Sends what is queued and COMMIT; the results of what was queued. Besides the errors of flush() it fails
    // with commit_outcome_unknown when the link broke, or memory ran out, after COMMIT may have left.
    awaitable<result<std::vector<result_set>>> commit();

    // How many statements wait for the next flush() or commit(); the place of the next one.
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
