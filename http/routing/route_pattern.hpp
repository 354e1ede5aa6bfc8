#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace restante {

// text: anything; the handler looks for itself.
enum class segment_kind { literal, workspace_id, file_id, token_id, text };

struct route_segment {
    segment_kind kind = segment_kind::literal;
    std::string_view text;
};

// "/workspaces/{id}/pending-uploads/{file_id}/content", parsed by the compiler: a pattern that starts without
// a slash, has an empty segment (other than "/" itself) or names an unknown parameter does not compile.
class route_pattern {
public:
    static constexpr std::size_t max_segments = 8;

    consteval route_pattern(const char* pattern) : text_(pattern)
    {
        if (text_.empty() || text_.front() != '/')
            throw "a pattern starts with a slash";
        if (text_ == "/") {  // one segment, which is empty, as in a path
            segments_[size_++] = {segment_kind::literal, {}};
            return;
        }
        for (std::size_t at = 1; at <= text_.size();) {
            const auto end = std::min(text_.find('/', at), text_.size());
            if (end == at || size_ == max_segments)
                throw "an empty segment, or too many";
            segments_[size_] = make_segment(text_.substr(at, end - at));
            if (segments_[size_].kind == segment_kind::literal)
                literals_ |= 1u << (max_segments - 1 - size_);
            ++size_;
            at = end + 1;
        }
    }

    // The template as it is written, for the metric label.
    constexpr std::string_view text() const { return text_; }
    constexpr std::size_t size() const { return size_; }
    constexpr const route_segment& operator[](std::size_t i) const { return segments_[i]; }

    // Of two patterns that match one path, the one with the greater rank is the more literal, from the left.
    constexpr unsigned rank() const { return literals_; }

private:
    static consteval route_segment make_segment(std::string_view text)
    {
        if (text.front() != '{')
            return {segment_kind::literal, text};
        if (text == "{id}")
            return {segment_kind::workspace_id, text};
        if (text == "{file_id}")
            return {segment_kind::file_id, text};
        if (text == "{token_id}" || text == "{grant_id}")
            return {segment_kind::token_id, text};
        if (text == "{build}" || text == "{folder}" || text == "{asset}")
            return {segment_kind::text, text};
        throw "an unknown parameter";
    }

    std::string_view text_;
    std::array<route_segment, max_segments> segments_{};
    std::size_t size_ = 0;
    unsigned literals_ = 0;
};

}  // namespace restante
