#pragma once

#include "storage/content/s3/s3_store.hpp"

#include <memory>
#include <string>

namespace restante::test {

// The bucket of the S3 engine that RESTANTE_TEST_S3 describes, under a prefix that no other test uses.
// Without the variable the test fails.
s3_options s3_test_options();

// Opened with the keys of the engine, or those that are given.
std::unique_ptr<s3_bucket> open_s3_bucket(const s3_options& options, const std::string& secret = "");

// Bytes that can be told apart wherever they are, of any number, made when they are read: as from a disk.
class counted_content final : public file_content {
public:
    explicit counted_content(std::uint64_t size) : size_(size) {}

    std::uint64_t size() const override { return size_; }
    std::optional<std::span<const char>> in_memory() const override { return std::nullopt; }
    awaitable<result<std::span<const char>>> read(std::uint64_t offset, std::span<char> into) override;

    static char byte_at(std::uint64_t offset);
    digest32 digest() const;

private:
    std::uint64_t size_;
};

}  // namespace restante::test
