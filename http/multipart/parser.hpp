#pragma once

#include "core/error.hpp"
#include "http/multipart/boundary.hpp"
#include "http/multipart/delimiter_search.hpp"
#include "http/multipart/part_head.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace restante::multipart {

struct parser_limits {
    std::size_t parts = 80;
    std::size_t header_bytes = 2048;         // of one part, each line with its CRLF
    std::size_t header_lines = 16;           // of one part
    std::size_t framing_bytes = 256u << 10;  // of the body: everything but content
};

struct event {
    enum class type { need_more, part_begin, data, part_end };

    type kind = type::need_more;
    std::string_view bytes;  // of data: never empty, valid until the next feed()
};

// An incremental parser of multipart/form-data bodies (RFC 2046, RFC 7578). How the body is split into blocks
// makes no difference to the parts that it returns.
//
//     parser.feed(block);
//     for (auto next = parser.next(); …; next = parser.next())   // until need_more or an error
//
// It does no I/O and copies no content: data points into the block wherever it can. Every failure, of grammar
// or of a limit, is errc::malformed_multipart; it is returned as soon as it is certain, after the events
// before it, and is permanent.
class parser {
public:
    explicit parser(const boundary& separator, const parser_limits& limits = {});

    // The block must stay alive until next() has returned need_more; only then may the next one be fed.
    void feed(std::span<const char> block) noexcept { rest_ = {block.data(), block.size()}; }

    result<event> next();

    // The headers of the most recent part.
    const part_head& head() const noexcept { return head_; }

    // Call at the end of the body: fails unless there was a part and the closing delimiter.
    result<void> finish() const;

    // Linear in the bytes fed, whatever they are; tests enforce that.
    std::uint64_t bytes_examined() const noexcept { return bytes_examined_ + search_.bytes_examined(); }

private:
    enum class state { preamble, padding, line_feed, headers, content, epilogue, broken };

    // Each continues in one state and returns an event or, if there is none, need_more.
    event step();
    event skip_preamble();
    event read_padding();
    event read_line_feed();
    event read_headers();
    event begin_part();
    event read_content();
    event break_off() noexcept;

    void take_framing(std::size_t bytes) noexcept;

    delimiter_search search_;
    parser_limits limits_;
    state state_ = state::preamble;
    bool closing_ = false;  // the last delimiter was the closing one
    std::size_t parts_ = 0;
    std::size_t framing_ = 0;
    std::string_view rest_;
    std::string header_;
    std::size_t header_lines_ = 0;
    part_head head_;
    std::uint64_t bytes_examined_ = 0;
};

}  // namespace restante::multipart
