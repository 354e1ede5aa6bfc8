#pragma once

#include "core/sha256.hpp"
#include "storage/staging.hpp"
#include "test/support/database.hpp"

#include <string>

namespace restante::test {

// File content in memory, or pretending to be on disk.
class text_content final : public file_content {
public:
    explicit text_content(std::string text, bool on_disk = false) : text_(std::move(text)), on_disk_(on_disk)
    {
    }

    std::uint64_t size() const override { return text_.size(); }
    std::optional<std::span<const char>> in_memory() const override
    {
        if (on_disk_)
            return std::nullopt;
        return std::span<const char>(text_);
    }
    awaitable<result<std::span<const char>>> read(std::uint64_t offset, std::span<char> into) override
    {
        const auto piece = std::string_view(text_).substr(offset, into.size());
        std::copy(piece.begin(), piece.end(), into.begin());
        co_return std::span<const char>(into.first(piece.size()));
    }

private:
    std::string text_;
    bool on_disk_;
};

inline new_file make_file(std::string name, std::string text, bool on_disk = false)
{
    new_file file;
    file.filename = file.original_name = std::move(name);
    file.mimetype = "text/plain";
    file.sha256 = sha256_of(text);
    file.content = std::make_shared<text_content>(std::move(text), on_disk);
    return file;
}

// An upload whose feed rows are abbreviated versions of the product's.
inline upload make_upload(uuid workspace, std::vector<new_file> files)
{
    upload load{.workspace = workspace, .files = std::move(files)};
    for (const auto& file : load.files) {
        auto row = std::make_shared<feed_entry>();
        row->what = {.id = file.activity_id,
                     .workspace_id = workspace,
                     .activity_type = "a2a_receive",
                     .source_id = {},
                     .target_id = workspace,
                     .method = "chat_upload_receive",
                     .summary = "chat_upload_receive: " + file.filename,
                     .request_body = "{\"file_id\":\"" + to_string(file.file_id) + "\"}",
                     .response_body = {},
                     .tool_trace = {},
                     .duration_ms = {},
                     .error_detail = {}};
        load.activities.push_back(std::move(row));
    }
    return load;
}

// Records the commits it is notified of.
struct recording_listener final : commit_listener {
    void on_commit(std::shared_ptr<const feed_entry> row) noexcept override
    {
        heard.push_back(std::move(row));
    }
    std::vector<std::shared_ptr<const feed_entry>> heard;
};

// The write side of one shard.
struct upload_store {
    upload_store(executor ex, const scratch_database& db, unsigned connections, quota_limits limits = {})
        : pool(ex, {.connect = db.options(), .connections = connections}),
          uploads(pool, std::chrono::hours(24)),
          log(pool, listener, limits),
          requests(pool, std::chrono::hours(24)),
          stage(ex, pool, uploads, log, requests)
    {
    }

    pq::connection_pool pool;
    recording_listener listener;
    pending_uploads uploads;
    activity_log log;
    upload_requests requests;
    staging stage;
};

}  // namespace restante::test
