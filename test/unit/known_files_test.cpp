#include "storage/content/known_files.hpp"

#include "test/support/temporary_file.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

namespace restante::test {
namespace {

digest32 digest_of(std::string_view text)
{
    return sha256_of(text);
}

file_identity with_inode(std::uint64_t inode)
{
    return {.device = 1, .inode = inode, .size = 10, .changed_s = 5, .changed_ns = 6};
}

TEST(known_files, knows_a_file_as_it_was_and_by_its_digest)
{
    known_files known;
    const auto file = with_inode(7);
    EXPECT_FALSE(known.knows(file, digest_of("a")));
    known.remember(file, digest_of("a"));
    EXPECT_TRUE(known.knows(file, digest_of("a")));
    EXPECT_FALSE(known.knows(file, digest_of("b")));
    for (auto member : {&file_identity::device, &file_identity::inode, &file_identity::size}) {
        auto other = file;
        other.*member += 1;
        EXPECT_FALSE(known.knows(other, digest_of("a")));
    }
    for (auto member : {&file_identity::changed_s, &file_identity::changed_ns}) {
        auto other = file;
        other.*member += 1;
        EXPECT_FALSE(known.knows(other, digest_of("a")));
    }
}

TEST(known_files, a_file_that_took_the_inode_of_another_replaces_it)
{
    known_files known;
    auto file = with_inode(7);
    known.remember(file, digest_of("a"));
    file.changed_s += 1;
    known.remember(file, digest_of("b"));
    EXPECT_TRUE(known.knows(file, digest_of("b")));
    EXPECT_FALSE(known.knows(with_inode(7), digest_of("a")));
}

TEST(known_files, the_latest_are_remembered_and_no_more_than_that)
{
    constexpr std::uint64_t most = 100;
    known_files known(most);
    for (std::uint64_t i = 0; i < 1000; ++i)
        known.remember(with_inode(i), digest_of("a"));
    std::uint64_t remembered = 0;
    for (std::uint64_t i = 0; i < 1000; ++i)
        remembered += known.knows(with_inode(i), digest_of("a")) ? 1 : 0;
    EXPECT_LE(remembered, 2 * most);
    for (std::uint64_t i = 1000 - most; i < 1000; ++i)
        EXPECT_TRUE(known.knows(with_inode(i), digest_of("a"))) << i;
}

TEST(known_files, whoever_writes_to_a_file_changes_its_identity)
{
    const temporary_file file("some bytes");
    const int open = ::open(file.path().c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(open, 0);
    const auto before = identify(open);
    ASSERT_TRUE(before);
    EXPECT_EQ(before->size, 10u);
    EXPECT_EQ(identify(open), before);
    // Clocks of file systems tick every few milliseconds.
    for (int i = 0; i < 1000 && identify(open) == before; ++i) {
        ASSERT_EQ(::pwrite(open, "S", 1, 0), 1);
        ::usleep(1000);
    }
    EXPECT_NE(identify(open), before);
    ::close(open);
    EXPECT_FALSE(identify(-1));
}

}  // namespace
}  // namespace restante::test
