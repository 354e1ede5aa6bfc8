#pragma once

#include "core/clock.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace restante::s3 {

// What S3 sends back, read strictly: nothing when a document is not the expected one, or is incomplete. An
// <Error> comes with a status of its own, and for some requests with 200.

struct error_answer {
    std::string code;  // "NoSuchKey"; empty when there was none to read
    std::string message;
};
error_answer parse_error(std::string_view document);

struct listed_object {
    std::string key;
    std::uint64_t size = 0;
    timestamp modified{};
};

struct listing {
    std::vector<listed_object> objects;
    std::string next;  // the token of the next page; empty at the end
};
std::optional<listing> parse_listing(std::string_view document);

std::optional<std::string> parse_upload_id(std::string_view document);

struct begun_upload {
    std::string key;
    std::string id;
    timestamp begun{};
};
// Uploads in parts that are not complete: the first page, which is enough for those who come back daily.
std::optional<std::vector<begun_upload>> parse_uploads(std::string_view document);

// Whether this says that an upload in parts is complete.
bool is_completed(std::string_view document);

struct removal_failure {
    std::string key;
    std::string code;
};
// Of DeleteObjects in quiet mode: what was not removed.
std::optional<std::vector<removal_failure>> parse_removals(std::string_view document);

// The bodies of our own requests.
std::string make_removal(std::span<const std::string> keys);
std::string make_completion(std::span<const std::string> etags);

}  // namespace restante::s3
