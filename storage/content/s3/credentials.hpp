#pragma once

#include "core/startup_failure.hpp"
#include "storage/content/s3/signature.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace restante::s3 {

// Two lines, `access_key = …` and `secret_key = …`, or their names in the file of other tools,
// `aws_access_key_id` and `aws_secret_access_key`. Section headings and comments are stepped over. Nothing
// when one of them is missing, twice there, or not visible ASCII.
std::optional<key_pair> parse_credentials(std::string_view text);

// The keys that requests are signed with, shared by all shards. They are in no log and no message.
class credentials {
public:
    // From the file, or without one from RESTANTE_S3_ACCESS_KEY and RESTANTE_S3_SECRET_KEY. A file that other
    // users can read is warned about.
    static startup_result<key_pair> load(const std::string& file);

    credentials(std::string file, key_pair keys);
    credentials(credentials&& other) noexcept : file_(std::move(other.file_)), keys_(std::move(other.keys_))
    {
    }

    std::shared_ptr<const key_pair> current() const;

    // Reads the file again; what cannot be read leaves the keys as they are, with a line in the log.
    void reload();

private:
    std::string file_;
    mutable std::mutex mutex_;
    std::shared_ptr<const key_pair> keys_;
};

}  // namespace restante::s3
