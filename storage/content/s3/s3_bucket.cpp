#include "core/log.hpp"
#include "storage/content/s3/s3_store.hpp"

#include <algorithm>

namespace restante {

namespace {

// What S3 allows; and nothing that would need encoding in a path.
bool is_bucket_name(std::string_view name)
{
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    };
    return name.size() >= 3 && name.size() <= 63 && name.front() != '.' && name.front() != '-' &&
           std::all_of(name.begin(), name.end(), fits);
}

bool is_prefix(std::string_view prefix)
{
    const auto fits = [](char c) { return c > ' ' && c < 0x7F && c != '\\'; };
    return prefix.size() <= 256 && !prefix.starts_with('/') && prefix.find("//") == std::string_view::npos &&
           std::all_of(prefix.begin(), prefix.end(), fits);
}

bool is_this_machine(const http_origin& origin)
{
    return is_localhost_name(origin.host) || (origin.address && origin.address->is_loopback());
}

}  // namespace

startup_result<std::unique_ptr<s3_bucket>> s3_bucket::open(const s3_options& options)
{
    const auto endpoint = parse_http_url(options.endpoint);
    if (!endpoint)
        return startup_failure{"--s3-endpoint must be an http or https URL, such as https://s3.example:7480"};
    if (!is_bucket_name(options.bucket))
        return startup_failure{"--s3-bucket must name a bucket: 3 to 63 of a-z, 0-9, - and ."};
    if (!is_prefix(options.prefix))
        return startup_failure{"--s3-prefix must be visible ASCII without a slash at its beginning"};
    auto keys = s3::credentials::load(options.credentials_file);
    if (!keys)
        return keys.error();
    auto tls = make_client_tls_context(options.ca_file);
    if (!tls)
        return startup_failure{"--s3-ca-file: " + tls.error().message};
    if (!endpoint->origin.tls && !is_this_machine(endpoint->origin))
        log_line(log_level::warn, "s3_without_tls")
            .field("endpoint", options.endpoint)
            .field("reason", "files travel in the clear; use an https endpoint");

    s3::bucket_place place{*endpoint, options.bucket, options.prefix, options.region};
    if (!place.prefix.empty() && !place.prefix.ends_with('/'))
        place.prefix += '/';
    s3::credentials held(options.credentials_file, std::move(*keys));
    return std::make_unique<s3_bucket>(std::move(place), std::move(held), std::move(*tls));
}

}  // namespace restante
