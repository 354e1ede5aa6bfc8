#pragma once

#include "storage/pq/connection.hpp"

#include <vector>

namespace restante::pq {

// Several statements in one flush with one Sync: one round trip for all of them.
//
//   pipeline work(connection);
//   work.add(insert_file, file);
//   work.add(publish, row);
//   auto results = co_await work.run();
//
// Inside a transaction block a failed statement makes PostgreSQL skip the rest, and the session remains "in
// error" for the pool to roll back. Outside a transaction block the statements up to the Sync are one
// implicit transaction.
class pipeline {
public:
    explicit pipeline(connection& on) : on_(on) {}
    pipeline(const pipeline&) = delete;
    pipeline& operator=(const pipeline&) = delete;

    // Copies the statement into libpq's buffer, after a Parse if this session has not prepared it yet. A
    // failure to do so is reported by run().
    void add(const statement& what, const parameters& with);
    void add(const statement& what);

    // The results, one per statement. On failure, failed_at() is the index of the statement that failed, or
    // the number of statements if the connection was lost.
    awaitable<result<std::vector<result_set>>> run();

    std::size_t size() const { return entries_.size(); }
    std::size_t failed_at() const { return failed_at_; }

private:
    struct entry {
        const char* name;
        bool prepares;
    };

    bool send_syncs();
    awaitable<result<result_set>> read_one(const entry& which);
    awaitable<error_code> read_sync();
    awaitable<error_code> read_whether_synchronous();
    awaitable<error_code> read_until_null();

    connection& on_;
    std::vector<entry> entries_;
    std::size_t failed_at_ = 0;
    std::size_t bytes_ = 0;
    bool refused_ = false;
    bool promised_ = false;  // and only a synchronous cluster may confirm it
};

}  // namespace restante::pq
