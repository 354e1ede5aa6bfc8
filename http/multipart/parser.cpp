#include "http/multipart/parser.hpp"

#include "core/text.hpp"

#include <algorithm>

namespace restante::multipart {

parser::parser(const boundary& separator, const parser_limits& limits) : search_(separator), limits_(limits)
{
    // A body starts with its first delimiter, which has no CRLF before it.
    search_.start_at_line_start();
}

result<event> parser::next()
{
    while (state_ != state::broken && !rest_.empty()) {
        const auto seen = step();
        if (framing_ > limits_.framing_bytes)
            state_ = state::broken;
        else if (seen.kind != event::type::need_more)
            return seen;
    }
    if (state_ == state::broken)
        return RESTANTE_ERROR(errc::malformed_multipart);
    return event{};
}

result<void> parser::finish() const
{
    const bool closed = state_ == state::epilogue || (state_ == state::padding && closing_);
    if (!closed || parts_ == 0)
        return RESTANTE_ERROR(errc::malformed_multipart);
    return {};
}

event parser::step()
{
    switch (state_) {
        case state::preamble: return skip_preamble();
        case state::padding: return read_padding();
        case state::line_feed: return read_line_feed();
        case state::headers: return read_headers();
        case state::content: return read_content();
        case state::epilogue: take_framing(rest_.size()); return {};
        case state::broken: break;
    }
    return {};
}

event parser::skip_preamble()
{
    const auto seen = search_.scan(rest_);
    framing_ += seen.text.size() + seen.delimiter_bytes;
    rest_.remove_prefix(seen.consumed);
    if (seen.found != delimiter_search::find::nothing) {
        closing_ = seen.found == delimiter_search::find::closing;
        state_ = state::padding;
    }
    return {};
}

// RFC 2046 lets gateways add blanks between a delimiter and its line end.
event parser::read_padding()
{
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_blank);
    take_framing(static_cast<std::size_t>(end - rest_.begin()));
    if (rest_.empty())
        return {};
    if (rest_[0] != '\r')
        return break_off();
    take_framing(1);
    state_ = state::line_feed;
    return {};
}

event parser::read_line_feed()
{
    if (rest_[0] != '\n')
        return break_off();
    take_framing(1);
    if (closing_) {
        state_ = state::epilogue;
        return {};
    }
    if (++parts_ > limits_.parts)
        return break_off();
    header_.clear();
    header_lines_ = 0;
    state_ = state::headers;
    return {};
}

event parser::read_headers()
{
    const auto length = std::min(rest_.find('\n'), rest_.size() - 1) + 1;
    const auto room = limits_.header_bytes + 2 - header_.size();  // the final empty line does not count
    if (length > room)
        return break_off();
    header_ += rest_.substr(0, length);
    take_framing(length);
    if (!header_.ends_with("\r\n"))
        return {};
    if (header_ == "\r\n" || header_.ends_with("\r\n\r\n"))
        return begin_part();
    if (++header_lines_ > limits_.header_lines)
        return break_off();
    return {};
}

event parser::begin_part()
{
    auto head = parse_part_head(std::string_view(header_).substr(0, header_.size() - 2));
    if (!head)
        return break_off();
    head_ = std::move(*head);
    // A part without content may end right here: the empty line is then also the CRLF of its delimiter.
    search_.start_at_line_start();
    state_ = state::content;
    return {event::type::part_begin, {}};
}

event parser::read_content()
{
    const auto seen = search_.scan(rest_);
    framing_ += seen.delimiter_bytes;
    rest_.remove_prefix(seen.consumed);
    if (seen.found != delimiter_search::find::nothing) {
        closing_ = seen.found == delimiter_search::find::closing;
        state_ = state::padding;
        return {event::type::part_end, {}};
    }
    if (seen.text.empty())
        return {};
    return {event::type::data, seen.text};
}

event parser::break_off() noexcept
{
    state_ = state::broken;
    return {};
}

void parser::take_framing(std::size_t bytes) noexcept
{
    framing_ += bytes;
    bytes_examined_ += bytes;
    rest_.remove_prefix(bytes);
}

}  // namespace restante::multipart
