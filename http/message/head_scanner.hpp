#pragma once

#include "core/error.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace restante {

// Finds the end of a request's head in the bytes as they arrive, before Beast gets any of them. It catches
// what can't be detected, or can't be limited, once Beast has parsed:
//
// - Beast 1.81 applies its header limit to the bytes it has not consumed yet. A client that ends every packet
//   one byte into the next field never reaches the limit. Here the limit is on the whole head.
// - Beast joins folded lines (obs-fold) with a space, and afterwards they can't be detected.
// - A bare LF, a TLS hello or a request line without a version is refused when it arrives, not when Beast has
//   its empty line or the header deadline expires.
//
// Refusals: uri_too_long (request line over 8,000 bytes), headers_too_large (block over 16 KiB, more than 64
// fields), http_version_not_supported, bad_request. After any of them the connection can only be answered and
// closed.
class head_scanner {
public:
    static constexpr std::size_t max_request_line = 8'000;
    static constexpr std::size_t max_block = 16 * 1024;  // everything after the request line
    static constexpr std::size_t max_fields = 64;
    // No accepted head is longer; a buffer and Beast's header_limit of this size always suffice.
    static constexpr std::size_t max_head = max_request_line + 2 + max_block;

    enum class progress { incomplete, complete, refused };

    // `received` holds every byte since the end of the previous message; between calls it only grows. No byte
    // is scanned twice, so a head that arrives byte by byte costs no more than another. After complete or
    // refused, the next message takes a new scanner.
    progress look(std::string_view received);

    // After complete: how many bytes the head takes, the empty line included.
    std::size_t size() const { return size_; }
    // After refused.
    errc refusal() const { return refusal_; }

private:
    bool in_request_line() const { return block_start_ == 0; }
    progress end_line(std::string_view line);
    progress refuse(errc why);

    std::size_t at_ = 0;           // first byte not scanned
    std::size_t line_start_ = 0;   // of the line that at_ is in
    std::size_t block_start_ = 0;  // of the first field; 0 while the request line lasts
    std::size_t fields_ = 0;
    std::size_t size_ = 0;
    bool after_cr_ = false;
    errc refusal_{};
};

}  // namespace restante
