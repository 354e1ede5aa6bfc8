#pragma once

#include "http/client/client_request.hpp"
#include "storage/content/s3/signature.hpp"
#include "storage/content/s3/uri_encoding.hpp"

#include <chrono>

namespace restante::s3 {

// Where the objects are: a bucket of an endpoint, addressed in the path.
struct bucket_place {
    http_url endpoint;
    std::string bucket;
    std::string prefix;  // empty, or ends with a slash
    std::string region = "us-east-1";

    // The name of an object in the bucket.
    std::string object(std::string_view key) const { return prefix + std::string(key); }
};

// One call, before it is signed.
struct call {
    boost::beast::http::verb method = boost::beast::http::verb::get;
    std::string object;  // empty for the bucket itself
    query_parameters query = {};
    std::string payload = std::string(empty_payload);  // SHA-256 of the body in hexadecimal
    std::string content_md5 = {};                      // in base64, where S3 demands one
    std::string range = {};
};

client_request make_request(const bucket_place& place, const key_pair& keys, const call& what,
                            std::chrono::sys_seconds now);

}  // namespace restante::s3
