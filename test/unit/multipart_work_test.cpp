#include "core/sha256.hpp"
#include "test/support/form_reading.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace restante::multipart {
namespace {

using namespace std::string_literals;

// The cost of parsing 25 MiB of hostile content, and whether they are returned unchanged.
struct passage {
    std::uint64_t examined = 0;
    std::uint64_t events = 0;
    bool exact = false;
};

passage pass_through(const std::string& separator, const std::string& repeated, std::size_t size,
                     std::size_t block_size)
{
    std::string content = "x";
    content.reserve(size + repeated.size());
    while (content.size() < size)
        content += repeated;
    const auto body = "--" + separator + "\r\nContent-Disposition: form-data; name=f\r\n\r\n" + content +
                      "\r\n--" + separator + "--";

    passage seen;
    sha256 hash;
    parser from(make_boundary(separator));
    for (std::string_view rest = body; !rest.empty(); rest.remove_prefix(std::min(block_size, rest.size()))) {
        from.feed(rest.substr(0, block_size));
        for (auto next = from.next(); next && next->kind != event::type::need_more; next = from.next()) {
            ++seen.events;
            hash.update(next->bytes);
        }
    }
    seen.examined = from.bytes_examined();
    seen.exact = from.finish() && hash.finish() == sha256_of(content);
    return seen;
}

TEST(multipart_work, linear_whatever_the_content)
{
    constexpr std::size_t size = 25 * 1024 * 1024;
    constexpr std::size_t block = 64 * 1024;
    const std::string longest(70, '-');
    for (const auto& repeated :
         {"\r\n--boundar"s, "\r"s, "-"s, "\r\n"s, "\r\n--boundaryx"s, "\r\n--boundary-"s, "x"s}) {
        const auto seen = pass_through("boundary", repeated, size, block);
        EXPECT_TRUE(seen.exact) << repeated;
        EXPECT_LE(seen.examined, 2 * size + size / 100) << repeated;
        EXPECT_LE(seen.events, 2 * size / block + 8) << repeated;
    }
    for (const auto& repeated : {"\r\n" + longest, "-"s}) {
        const auto seen = pass_through(longest, repeated, size / 5, block);
        EXPECT_TRUE(seen.exact);
        EXPECT_LE(seen.examined, 2 * (size / 5) + size / 100);
    }
}

TEST(multipart_work, linear_in_blocks_of_one_byte)
{
    constexpr std::size_t size = 1024 * 1024;
    for (const auto& repeated : {"\r\n--boundar"s, "\r"s, "-"s, "\r\n--boundary-"s}) {
        const auto seen = pass_through("boundary", repeated, size, 1);
        EXPECT_TRUE(seen.exact) << repeated;
        EXPECT_LE(seen.examined, 3 * size + size / 100) << repeated;
        EXPECT_LE(seen.events, size + size / 100) << repeated;
    }
}

}  // namespace
}  // namespace restante::multipart
