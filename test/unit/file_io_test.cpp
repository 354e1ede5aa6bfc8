#include "core/file_io.hpp"

#include "core/unique_fd.hpp"
#include "test/support/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <fcntl.h>
#include <new>
#include <string>
#include <unistd.h>

namespace restante::test {
namespace {

constexpr std::size_t block = direct_block;

// Bytes that begin at a block.
class blocks {
public:
    explicit blocks(std::size_t size) : size_(size), data_(new(std::align_val_t(block)) char[size])
    {
        for (std::size_t i = 0; i < size; ++i)
            data_[i] = static_cast<char>(i * 7 + i / block);
    }
    ~blocks() { ::operator delete[](data_, std::align_val_t(block)); }
    blocks(const blocks&) = delete;
    blocks& operator=(const blocks&) = delete;

    std::span<const char> all() const { return {data_, size_}; }

private:
    std::size_t size_;
    char* data_;
};

class direct_write : public testing::Test {
protected:
    int file() const { return file_.get(); }
    bool can_be_direct() const
    {
        const unique_fd tried(::open(path_.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
        return static_cast<bool>(tried);
    }
    // Not every file system can: a tmpfs says of nothing that it can be read without waiting.
    bool tells_what_is_cached() const
    {
        const unique_fd plain(::open((path_ + ".plain").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
        EXPECT_EQ(::pwrite(plain.get(), path_.data(), path_.size(), 0), static_cast<ssize_t>(path_.size()));
        return is_cached(plain.get(), 0, path_.size());
    }
    std::string written() const
    {
        std::string text(static_cast<std::size_t>(::lseek(file(), 0, SEEK_END)), '\0');
        EXPECT_EQ(::pread(file(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
        return text;
    }

private:
    temporary_directory folder_;
    std::string path_ = folder_.path() / "file";
    unique_fd file_{::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
};

std::string_view text_of(std::span<const char> bytes)
{
    return {bytes.data(), bytes.size()};
}

TEST_F(direct_write, any_length_arrives_whole)
{
    constexpr std::size_t sizes[] = {0, 1, block - 1, block, block + 1, 64 * block, 64 * block + 577};
    for (const auto size : sizes) {
        const blocks bytes(size);
        ASSERT_EQ(::ftruncate(file(), 0), 0);
        ASSERT_EQ(write_all_direct(file(), 0, bytes.all()), 0);
        EXPECT_EQ(written(), text_of(bytes.all())) << size;
    }
}

TEST_F(direct_write, memory_and_offset_may_be_anywhere)
{
    const blocks bytes(8 * block);
    ASSERT_EQ(write_all_direct(file(), 0, bytes.all().first(2 * block + 5)), 0);
    ASSERT_EQ(write_all_direct(file(), 2 * block + 5, bytes.all().subspan(2 * block + 5, 3 * block)), 0);
    ASSERT_EQ(write_all_direct(file(), 5 * block + 5, bytes.all().subspan(5 * block + 5)), 0);
    EXPECT_EQ(written(), text_of(bytes.all()));
}

TEST_F(direct_write, leaves_the_descriptor_as_it_was)
{
    const blocks bytes(2 * block);
    ASSERT_EQ(write_all_direct(file(), 0, bytes.all()), 0);
    EXPECT_EQ(::fcntl(file(), F_GETFL) & O_DIRECT, 0);
}

TEST_F(direct_write, does_not_fill_the_page_cache_where_the_file_system_can)
{
    const blocks bytes(16 * block + 100);
    ASSERT_EQ(write_all_direct(file(), 0, bytes.all()), 0);
    EXPECT_EQ(is_cached(file(), 0, block), tells_what_is_cached() && !can_be_direct());
    EXPECT_EQ(is_cached(file(), 16 * block, 100), tells_what_is_cached());
}

TEST_F(direct_write, says_why_it_failed)
{
    const blocks bytes(block);
    EXPECT_EQ(write_all_direct(-1, 0, bytes.all()), EBADF);
    const unique_fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    EXPECT_EQ(write_all_direct(full.get(), 0, bytes.all()), ENOSPC);
}

}  // namespace
}  // namespace restante::test
