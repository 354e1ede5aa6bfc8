#pragma once

#include <boost/asio/buffer.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

namespace restante {

// Bytes that have been received and not been used yet: an incomplete head, the first part of a body, a
// pipelined request. It holds memory only while it holds bytes, so that thousands of idle connections cost
// next to nothing. Most requests need a block for a moment, so each thread keeps one for the next.
class input_buffer {
public:
    // More than the longest head that is accepted (8,000 + 16 KiB).
    static constexpr std::size_t capacity = 32 * 1024;

    input_buffer() = default;
    input_buffer(const input_buffer&) = delete;
    input_buffer& operator=(const input_buffer&) = delete;
    ~input_buffer() { give_back(); }

    std::string_view view() const { return {block_.get() + begin_, end_ - begin_}; }
    boost::asio::const_buffer data() const { return {block_.get() + begin_, end_ - begin_}; }
    std::size_t size() const { return end_ - begin_; }
    bool empty() const { return begin_ == end_; }
    bool full() const { return size() == capacity; }

    // Space for the next bytes; empty only when full().
    boost::asio::mutable_buffer prepare()
    {
        if (!block_)
            take();
        if (begin_ > 0 && capacity - end_ < capacity / 4) {
            std::memmove(block_.get(), block_.get() + begin_, size());
            end_ -= begin_;
            begin_ = 0;
        }
        return {block_.get() + end_, capacity - end_};
    }

    void commit(std::size_t n) { end_ += n; }

    void consume(std::size_t n)
    {
        begin_ += n;
        if (begin_ == end_)
            begin_ = end_ = 0;
    }

    void release_if_empty()
    {
        if (empty())
            give_back();
    }

private:
    using block = std::unique_ptr<char[]>;

    static block& spare()
    {
        thread_local block kept;
        return kept;
    }

    void take()
    {
        block_ = std::move(spare());
        if (!block_)
            block_ = std::make_unique_for_overwrite<char[]>(capacity);
    }

    void give_back()
    {
        if (block_)
            spare() = std::move(block_);
    }

    block block_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

}  // namespace restante
