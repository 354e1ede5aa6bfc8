#pragma once

#include "storage/pq/connection.hpp"

namespace restante::pq {

// COPY … FROM STDIN (FORMAT binary), sent in pieces. Each piece is passed to the kernel before the next is
// accepted, so the client holds one piece whatever the total size.
class copy_in {
public:
    // sql ends with the COPY statement; statements before it (BEGIN) are sent in the same round trip.
    static awaitable<result<copy_in>> begin(connection& on, const std::string& sql);

    awaitable<error_code> write(std::span<const char> piece);

    // Ends the stream and waits for PostgreSQL's result.
    awaitable<error_code> finish();

    // Aborts: PostgreSQL discards the rows and fails the transaction.
    awaitable<error_code> abort(const char* reason);

private:
    explicit copy_in(connection& on) : on_(&on) {}
    awaitable<error_code> end(const char* reason);

    connection* on_;
};

// The binary format of COPY: a header, then for each row a field count and length-prefixed fields.
class copy_encoder {
public:
    static void header(std::string& out);
    static void trailer(std::string& out);
    static void row(std::string& out, std::int16_t fields);
    static void null(std::string& out);
    static void add(std::string& out, const uuid& value);
    static void add(std::string& out, std::int64_t value);
    static void add(std::string& out, timestamp value);
    static void add(std::string& out, std::string_view text);
    // Only the length; the bytes follow through write().
    static void length(std::string& out, std::int32_t bytes);
};

}  // namespace restante::pq
