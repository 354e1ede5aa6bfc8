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
    std::size_t framing_bytes = 256u << 10;  // of the body: all that is not content
};

struct event {
    enum class type { need_more, part_begin, data, part_end };

    type kind = type::need_more;
    std::string_view bytes;  // of data: never empty, valid until the next call of feed()
};

// Reads a multipart/form-data body (RFC 2046, RFC 7578) that comes in blocks of any size; how it is split
// makes no difference to the parts that come out.
//
//     parser.feed(block);
//     for (auto next = parser.next(); …; next = parser.next())   // until need_more or an error
//
// It does no I/O and copies no content: data points into the block wherever it can. Every failure, of grammar
// or of a limit, is errc::malformed_multipart; it comes as soon as it is certain, after the events before it,
// and stays.
class parser {
public:
    explicit parser(const boundary& separator, const parser_limits& limits = {});

    // The block must stay alive until next() has said need_more; only then may the next one be fed.
    void feed(std::span<const char> block) noexcept { rest_ = {block.data(), block.size()}; }

    result<event> next();

    // The headers of the part that began last.
    const part_head& head() const noexcept { return head_; }

    // To be asked when the body is at its end: fails unless there was a part and the closing delimiter.
    result<void> finish() const;

    // Grows linearly with the bytes fed, whatever they are; tests hold it to that.
    std::uint64_t bytes_examined() const noexcept { return bytes_examined_ + search_.bytes_examined(); }

private:
    enum class state { preamble, padding, line_feed, headers, content, epilogue, broken };

    // Each reads on in one state and returns an event or, with nothing to tell, need_more.
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
    bool closing_ = false;  // the delimiter seen last is the closing one
    std::size_t parts_ = 0;
    std::size_t framing_ = 0;
    std::string_view rest_;
    std::string header_;
    std::size_t header_lines_ = 0;
    part_head head_;
    std::uint64_t bytes_examined_ = 0;
};

}  // namespace restante::multipart
