#pragma once

#include "core/shared_run.hpp"
#include "storage/content/content_directory.hpp"
#include "storage/content/file_checks.hpp"

#include <unordered_map>

namespace restante {

// Bytes in files of one machine. A file that was received into the same directory is not copied: it gets its
// name. A reader keeps its file open, so that removing the name does not cut it short. Files that this
// process has not written, or that were changed since, are compared with their digests
// (directory_reader.hpp).
class directory_store final : public content_store {
public:
    directory_store(executor ex, std::shared_ptr<content_directory> where);

    content_place place() const override { return content_place::directory; }
    awaitable<error_code> write(std::span<const content_to_store> files) override;
    awaitable<result<std::unique_ptr<content_reader>>> open(stored_content what, content_part part) override;
    awaitable<result<std::vector<std::string>>> remove(std::span<const std::string> keys) override;
    awaitable<result<std::vector<listed_content>>> list(std::string after, std::string before,
                                                        std::size_t limit) override;
    std::optional<std::string> trouble() const override { return where_->trouble(); }
    bool has_room(std::uint64_t bytes) const override;
    awaitable<void> run(task_group& tasks) override;

private:
    awaitable<error_code> write_bytes(const content_to_store& file);
    awaitable<error_code> copy_bytes(const content_to_store& file);
    awaitable<error_code> sync_folder(std::string hour);
    error_code write_failure(int error);

    executor ex_;
    std::shared_ptr<content_directory> where_;
    file_checks checks_;
    std::unordered_map<std::string, std::shared_ptr<shared_run<int>>> syncs_;  // by hour
};

}  // namespace restante
