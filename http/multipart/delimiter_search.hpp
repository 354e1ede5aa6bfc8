#pragma once

#include "http/multipart/boundary.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace restante::multipart {

// Finds CRLF--boundary in text that arrives in blocks, without copying.
//
// A delimiter must be followed by a blank, a CR or `--`; anything else (the boundary as the prefix of a
// longer word) is text. It starts with its only CR, so a failed comparison can never have skipped the start
// of another: the search continues at the byte that differed, and every byte is examined a bounded number of
// times, whatever the text.
class delimiter_search {
public:
    enum class find { nothing, opening, closing };

    // The result of scan() for the front of a block. The text precedes the delimiter and points either into
    // the block or, for bytes held back from an earlier one, into this object.
    struct outcome {
        std::string_view text;
        find found = find::nothing;
        std::size_t consumed = 0;         // bytes of the block
        std::size_t delimiter_bytes = 0;  // of the delimiter, including earlier blocks
    };

    explicit delimiter_search(const boundary& separator);

    // Restarts after a line end that counts as part of the delimiter: at the start of the body, and after a
    // part's headers, where no CRLF of content precedes it.
    void start_at_line_start() noexcept;

    // Consumes the whole block, or stops after a delimiter, or before one if there is text to return first.
    // The byte after an opening delimiter is left to the caller.
    outcome scan(std::string_view block);

    // The work done so far: bytes skipped and bytes compared, including repeats.
    std::uint64_t bytes_examined() const noexcept { return bytes_examined_; }

private:
    enum class verdict { differs, undecided, opening, closing };

    struct comparison {
        verdict is;
        std::size_t matched;  // bytes of needle_, including earlier blocks
        std::size_t length;   // bytes of the block
    };

    comparison compare(std::string_view block, std::size_t matched);
    outcome resume(std::string_view block);

    std::string needle_;      // CRLF, two dashes, the boundary, and the two closing dashes
    std::size_t held_ = 0;    // bytes of needle_ at the end of the previous blocks
    std::size_t unsaid_ = 0;  // how many of those are a line end that is not text
    std::uint64_t bytes_examined_ = 0;
};

}  // namespace restante::multipart
