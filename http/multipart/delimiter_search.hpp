#pragma once

#include "http/multipart/boundary.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace restante::multipart {

// Finds CRLF--boundary in text that comes in blocks, without copying any of it.
//
// A delimiter counts as one when a blank, a CR or `--` follows; anything else (the boundary as the beginning
// of a longer word) is text. All of it starts with the only CR it has, so a failed comparison can never have
// swallowed the start of another: the search goes on at the byte that differed, and every byte is looked at a
// bounded number of times, whatever the text.
class delimiter_search {
public:
    enum class find { nothing, opening, closing };

    // What scan() learned about the front of a block. The text comes before the find and points either into
    // the block or, for bytes held back from an earlier one, into this object.
    struct outcome {
        std::string_view text;
        find found = find::nothing;
        std::size_t consumed = 0;         // bytes of the block
        std::size_t delimiter_bytes = 0;  // of the find, those in earlier blocks included
    };

    explicit delimiter_search(const boundary& separator);

    // Begins anew after a line end that counts as the delimiter's own: at the start of the body, and after a
    // part's headers, where no CRLF of content comes first.
    void start_at_line_start() noexcept;

    // Consumes the whole block, or stops behind a delimiter, or in front of one when there is text to hand
    // out first. The byte that follows an opening delimiter is left to the caller.
    outcome scan(std::string_view block);

    // The work done so far: bytes passed over and bytes compared, once for each time.
    std::uint64_t bytes_examined() const noexcept { return bytes_examined_; }

private:
    enum class verdict { differs, undecided, opening, closing };

    struct comparison {
        verdict is;
        std::size_t matched;  // bytes of needle_, those of earlier blocks included
        std::size_t length;   // bytes of the block
    };

    comparison compare(std::string_view block, std::size_t matched);
    outcome resume(std::string_view block);

    std::string needle_;      // CRLF, two dashes, the boundary, and the two dashes of the last one
    std::size_t held_ = 0;    // bytes of needle_ that the blocks before this one ended with
    std::size_t unsaid_ = 0;  // how many of those are the line end that is not text
    std::uint64_t bytes_examined_ = 0;
};

}  // namespace restante::multipart
