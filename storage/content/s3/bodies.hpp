#pragma once

#include "http/client/client_request.hpp"
#include "storage/content/file_content.hpp"

#include <string_view>
#include <vector>

namespace restante::s3 {

struct stretch {
    std::uint64_t first = 0;
    std::uint64_t size = 0;
};

// A stretch of a file as the body of a request. A request that is repeated takes a new one.
class file_part final : public request_source {
public:
    file_part(file_content& file, stretch part) : file_(file), part_(part) {}

    std::optional<std::uint64_t> length() const override { return part_.size; }
    awaitable<result<std::span<const char>>> next() override;
    void interrupt() override {}  // a read from disk ends by itself

private:
    file_content& file_;
    stretch part_;
    std::uint64_t passed_ = 0;
    std::vector<char> block_;  // unless the file is in memory
};

// A document of ours.
class text_body final : public request_source {
public:
    explicit text_body(std::string_view text) : rest_(text), size_(text.size()) {}

    std::optional<std::uint64_t> length() const override { return size_; }
    awaitable<result<std::span<const char>>> next() override;
    void interrupt() override {}

private:
    std::string_view rest_;
    std::size_t size_;
};

}  // namespace restante::s3
