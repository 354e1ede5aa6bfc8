#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace restante {

// The place of a request in a distributed trace (W3C Trace Context): the id that all programs which took part
// share, and that of our own part, the span. Both are lower-case hexadecimal.
class trace_context {
public:
    // Continues the trace of a `traceparent`, with a new span of ours; begins a new one where there is none,
    // or one that the standard calls invalid. Nothing of an invalid one is kept.
    explicit trace_context(std::string_view traceparent = {});

    std::string_view id() const { return {id_.data(), id_.size()}; }
    std::string_view span() const { return {span_.data(), span_.size()}; }
    // The span that called us; empty when the trace began here.
    std::string_view parent() const { return parent_ ? std::string_view(parent_->data(), 16) : ""; }

    // What requests that we make on behalf of this one carry.
    std::string traceparent() const;

private:
    std::array<char, 32> id_;
    std::array<char, 16> span_;
    std::optional<std::array<char, 16>> parent_;
    bool sampled_ = false;  // the caller records this trace, and expects others to
};

}  // namespace restante
