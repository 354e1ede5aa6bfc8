#pragma once

#include "http/message/byte_range.hpp"
#include "http/message/response.hpp"
#include "storage/content/content_store.hpp"

#include <functional>
#include <memory>

namespace restante {

// Bytes that came with the file's row. For HEAD they may be absent: only the length is sent.
std::unique_ptr<body_source> make_memory_download(std::shared_ptr<const void> holder,
                                                  std::span<const char> bytes,
                                                  std::function<void()> on_complete, std::uint64_t length);

// What is done at the end of a download: when the last byte was sent, or when the bytes turned out to be
// lost, in which case the connection is cut.
struct download_end {
    std::function<void()> on_complete;
    std::function<void()> on_lost;
};

// Bytes that are read while they are sent, as fast as the client takes them.
std::unique_ptr<body_source> make_streamed_download(std::unique_ptr<content_reader> from,
                                                    std::uint64_t length, download_end end);

// What the block of a download is charged with.
inline constexpr std::size_t download_block = 256 * 1024;

}  // namespace restante
