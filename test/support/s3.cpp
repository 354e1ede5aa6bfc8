#include "test/support/s3.hpp"

#include "core/encoding.hpp"
#include "test/support/temporary_file.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <sstream>

namespace restante::test {

namespace {

std::map<std::string, std::string> engine()
{
    const char* file = std::getenv("RESTANTE_TEST_S3");
    std::ifstream in(file ? file : "");
    std::map<std::string, std::string> values;
    for (std::string line; std::getline(in, line);)
        values[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
    if (values.empty())
        throw std::runtime_error(
            "RESTANTE_TEST_S3 names no file of an S3 engine; see test/support/s3_engine");
    return values;
}

}  // namespace

s3_options s3_test_options()
{
    auto values = engine();
    std::ostringstream prefix;
    prefix << "test-" << std::hex << std::random_device{}() << std::random_device{}();
    return {.endpoint = values["S3_ENDPOINT"],
            .bucket = values["S3_BUCKET"],
            .prefix = prefix.str(),
            .region = "us-east-1",
            .credentials_file = {},
            .ca_file = {}};
}

std::unique_ptr<s3_bucket> open_s3_bucket(const s3_options& options, const std::string& secret)
{
    auto values = engine();
    const temporary_file keys("access_key = " + values["S3_ACCESS_KEY"] +
                              "\nsecret_key = " + (secret.empty() ? values["S3_SECRET_KEY"] : secret) + '\n');
    auto with_keys = options;
    with_keys.credentials_file = keys.path();
    auto bucket = s3_bucket::open(with_keys);
    if (!bucket)
        throw std::runtime_error(bucket.error().message);
    return std::move(*bucket);
}

char counted_content::byte_at(std::uint64_t offset)
{
    // The low bits alone would repeat; blocks that are swapped must not look alike.
    return static_cast<char>((offset ^ (offset >> 8) * 31 ^ (offset >> 20) * 17) & 0xFF);
}

awaitable<result<std::span<const char>>> counted_content::read(std::uint64_t offset, std::span<char> into)
{
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), size_ - offset));
    for (std::size_t i = 0; i < count; ++i)
        into[i] = byte_at(offset + i);
    co_return std::span<const char>(into.first(count));
}

digest32 counted_content::digest() const
{
    sha256 hash;
    std::vector<char> block(1 << 20);
    for (std::uint64_t at = 0; at < size_; at += block.size()) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), size_ - at));
        for (std::size_t i = 0; i < count; ++i)
            block[i] = byte_at(at + i);
        hash.update(std::span<const char>(block).first(count));
    }
    return hash.finish();
}

}  // namespace restante::test
