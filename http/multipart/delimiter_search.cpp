#include "http/multipart/delimiter_search.hpp"

#include "core/text.hpp"

#include <algorithm>

namespace restante::multipart {

namespace {

// Where a delimiter may begin: at a CR followed by LF and a dash, as far as these are in the block. memchr is
// fast over everything but line ends; checking the next two bytes keeps text that consists of line ends from
// being slow.
std::size_t next_candidate(std::string_view block, std::size_t at)
{
    const auto may_be = [block](std::size_t i, char c) { return i >= block.size() || block[i] == c; };
    while (at < block.size()) {
        if (block[at] != '\r')
            at = std::min(block.find('\r', at), block.size());
        else if (!may_be(at + 1, '\n'))
            at += 1;
        else if (!may_be(at + 2, '-'))
            at += 2;
        else
            return at;
    }
    return block.size();
}

}  // namespace

delimiter_search::delimiter_search(const boundary& separator) : needle_("\r\n--" + separator.text() + "--") {}

void delimiter_search::start_at_line_start() noexcept
{
    held_ = unsaid_ = 2;
}

delimiter_search::outcome delimiter_search::scan(std::string_view block)
{
    if (held_ > 0)
        return resume(block);

    std::size_t at = 0;
    for (;;) {
        const auto start = next_candidate(block, at);
        bytes_examined_ += start - at;
        const auto [is, matched, length] = compare(block.substr(start), 0);
        switch (is) {
            case verdict::differs: at = start + length; break;
            case verdict::undecided:
                held_ = matched;
                return {block.substr(0, start), find::nothing, block.size()};
            case verdict::opening:
            case verdict::closing:
                // Text first; the next call finds the delimiter again, at the front.
                if (start > 0)
                    return {block.substr(0, start), find::nothing, start};
                return {{}, is == verdict::opening ? find::opening : find::closing, length, length};
        }
    }
}

delimiter_search::outcome delimiter_search::resume(std::string_view block)
{
    const auto [is, matched, length] = compare(block, held_);
    const auto unsaid = unsaid_;
    held_ = unsaid_ = 0;
    switch (is) {
        case verdict::opening: return {{}, find::opening, length, matched - unsaid};
        case verdict::closing: return {{}, find::closing, length, matched - unsaid};
        case verdict::undecided:
            held_ = matched;
            unsaid_ = unsaid;
            return {{}, find::nothing, length};
        case verdict::differs: break;
    }
    // It was text after all, and needle_ has the same bytes.
    return {std::string_view(needle_).substr(unsaid, matched - unsaid), find::nothing, length};
}

delimiter_search::comparison delimiter_search::compare(std::string_view block, std::size_t matched)
{
    std::size_t length = 0;
    while (length < block.size() && matched < needle_.size() && block[length] == needle_[matched]) {
        ++length;
        ++matched;
    }
    bytes_examined_ += length + 1;
    if (matched == needle_.size())
        return {verdict::closing, matched, length};
    if (length == block.size())
        return {verdict::undecided, matched, length};
    const bool whole = matched == needle_.size() - 2;
    const bool ends_here = is_blank(block[length]) || block[length] == '\r';
    return {whole && ends_here ? verdict::opening : verdict::differs, matched, length};
}

}  // namespace restante::multipart
