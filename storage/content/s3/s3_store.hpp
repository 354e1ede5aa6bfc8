#pragma once

#include "core/startup_failure.hpp"
#include "http/client/http_client.hpp"
#include "storage/content/content_store.hpp"
#include "storage/content/s3/credentials.hpp"
#include "storage/content/s3/health.hpp"
#include "storage/content/s3/request.hpp"
#include "storage/content/s3/session.hpp"

#include <atomic>

namespace restante {

struct s3_options {
    std::string endpoint;  // http or https, with a path if the API is not at its root
    std::string bucket;
    std::string prefix;
    std::string region;
    std::string credentials_file;  // empty: the environment
    std::string ca_file;           // roots besides the system's
};

// What the shards of a process share about one bucket.
struct s3_bucket {
    s3::bucket_place place;
    s3::credentials keys;
    tls_context tls;
    s3::health state;
    std::atomic<std::int64_t> next_cleaning{0};  // of uploads in parts, in seconds since the epoch

    s3_bucket(s3::bucket_place where, s3::credentials with, tls_context trust)
        : place(std::move(where)), keys(std::move(with)), tls(std::move(trust))
    {
    }

    // The error says which option is wrong.
    static startup_result<std::unique_ptr<s3_bucket>> open(const s3_options& options);
};

// Bytes in objects: `<prefix>/2026-11-16T18/<file id>`. Keys are used once, so that an object never changes
// and a repeated PUT does no harm.
class s3_store final : public content_store {
public:
    s3_store(executor ex, s3_bucket& bucket);

    content_place place() const override { return content_place::s3; }
    // Four files at a time.
    awaitable<error_code> write(std::span<const content_to_store> files) override;
    awaitable<result<std::unique_ptr<content_reader>>> open(stored_content what, content_part part) override;
    awaitable<result<std::vector<std::string>>> remove(std::span<const std::string> keys) override;
    // Objects that are not ours, by their names, are passed over.
    awaitable<result<std::vector<listed_content>>> list(std::string after, std::string before,
                                                        std::size_t limit) override;

    // A download whose connection breaks asks for the rest of the object, up to this long after its row went.
    std::chrono::seconds removal_delay() const override { return std::chrono::hours(1); }

    std::optional<std::string> trouble() const override;
    bool has_room(std::uint64_t) const override;

    // Probes the store: before anything else, every second while it is away, and after ten without a call.
    // Once an hour it aborts uploads in parts that nobody has completed for a day.
    awaitable<void> run(task_group& until) override;

private:
    awaitable<error_code> put_one(const content_to_store& file);
    awaitable<void> clean_up();

    system_resolver names_;
    http_client client_;
    s3_bucket& bucket_;
    s3::session session_;
};

}  // namespace restante
