#pragma once

#include "core/error.hpp"

#include <cstddef>
#include <string_view>

namespace restante {

// Finds the end of a request's head in the bytes as they arrive, before Beast sees any of them. It is there
// for what can't be seen, or can't be limited, once Beast has parsed:
//
// - Beast 1.81 applies its header limit to the bytes it has not consumed yet. A client that ends every packet
// one
//   byte into the next field is consumed field by field and never meets the limit. Here the limit is on the
//   whole.
// - Beast joins folded lines (obs-fold) with a space, and afterwards nobody can tell.
// - A bare LF or CR is refused when it arrives, not when the header deadline strikes.
//
// Refusals: uri_too_long (request line over 8,000 bytes), headers_too_large (block over 16 KiB, more than 64
// fields), bad_request. After any of them the connection can only be answered and closed.
class head_scanner {
public:
    static constexpr std::size_t max_request_line = 8'000;
    static constexpr std::size_t max_head = 16 * 1024;  // everything after the request line
    static constexpr std::size_t max_fields = 64;

    enum class progress { incomplete, complete, refused };

    // `received` holds every byte since the end of the previous message; between calls it only grows. Bytes
    // already looked at are not looked at again, so a head that comes byte by byte costs no more than
    // another.
    progress look(std::string_view received);

    // After complete: how many bytes the head takes, the empty line included.
    std::size_t size() const { return at_; }
    // After refused.
    errc refusal() const { return refusal_; }

private:
    progress refuse(errc why);
    progress end_line();

    std::size_t at_ = 0;           // first byte not looked at
    std::size_t line_start_ = 0;   // of the line that at_ is in
    std::size_t block_start_ = 0;  // end of the request line
    std::size_t fields_ = 0;
    bool after_cr_ = false;
    errc refusal_{};
};

}  // namespace restante
