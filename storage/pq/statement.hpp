#pragma once

namespace restante {

// A statement by name: prepared under it on first use by each connection, and called by it in log lines. The
// text casts every parameter ($1::uuid), because parameters travel in binary and carry no type of their own.
struct statement {
    const char* name;
    const char* text;
    // Somebody is told that its commit is durable: under --require-synchronous it is confirmed only by a
    // cluster that still is synchronous after it.
    bool promised = false;
};

inline constexpr bool promised = true;

}  // namespace restante
