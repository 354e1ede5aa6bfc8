#pragma once

#include "client/outgoing_file.hpp"
#include "client/progress_display.hpp"
#include "core/sha256.hpp"
#include "core/worker_pool.hpp"
#include "http/client/client_request.hpp"

#include <span>

namespace restante::client {

// The form that carries the files, read from disk as the server takes it. Used once.
class multipart_body final : public request_source {
public:
    multipart_body(std::span<const outgoing_file> files, std::string boundary, worker_pool& workers,
                   progress_display& progress);

    std::string content_type() const { return "multipart/form-data; boundary=" + boundary_; }
    // Of each file, as it was read.
    const std::vector<std::string>& digests() const { return digests_; }

    std::optional<std::uint64_t> length() const override { return length_; }
    // Fails with errc::io_error when a file has become shorter than it was.
    awaitable<result<std::span<const char>>> next() override;
    void interrupt() override {}

private:
    std::string head_of(const outgoing_file& file) const;
    awaitable<result<std::span<const char>>> next_of_file();

    std::span<const outgoing_file> files_;
    std::string boundary_;
    worker_pool& workers_;
    progress_display& progress_;
    std::uint64_t length_ = 0;
    std::size_t current_ = 0;
    bool in_file_ = false;
    bool ended_ = false;
    std::uint64_t offset_ = 0;
    std::string text_;
    std::vector<char> block_;
    sha256 digest_;
    std::vector<std::string> digests_;
    // The last one until the server has answered: what is read from the disk is not yet there.
    std::unique_ptr<progress_display::transfer> shown_;
};

// A name as a browser writes it into a form.
std::string form_name(std::string_view name);

}  // namespace restante::client
