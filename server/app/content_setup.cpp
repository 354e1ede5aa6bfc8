#include "server/app/content_setup.hpp"

#include "storage/content/directory_store.hpp"
#include "storage/content/inline_store.hpp"

#include <cerrno>
#include <sys/stat.h>

namespace restante {

namespace {

std::string content_dir_of(const settings& config)
{
    return config.content_dir.empty() ? config.data_dir + "/content" : config.content_dir;
}

bool exists(const std::string& path)
{
    struct stat info{};
    return ::stat(path.c_str(), &info) == 0;
}

bool is_missing(const std::string& path)
{
    return !exists(path) && (errno == ENOENT || errno == ENOTDIR);
}

content_place store_of(const settings& config)
{
    switch (config.content_store) {
        case content_home::automatic: break;
        case content_home::inline_: return content_place::inline_;
        case content_home::directory: return content_place::directory;
        case content_home::s3: return content_place::s3;
    }
    return config.database_url.empty() ? content_place::directory : content_place::inline_;
}

s3_options s3_options_of(const settings& config)
{
    return {.endpoint = config.s3_endpoint,
            .bucket = config.s3_bucket,
            .prefix = config.s3_prefix,
            .region = config.s3_region,
            .credentials_file = config.s3_credentials_file,
            .ca_file = config.s3_ca_file};
}

}  // namespace

content_policy content_policy_of(const settings& config)
{
    return {.store = store_of(config), .inline_max = config.content_inline_max};
}

startup_result<content_setup> content_setup::open(const settings& config, missing_directory how)
{
    content_setup setup;
    const auto path = content_dir_of(config);
    setup.directory_is_named = store_of(config) == content_place::directory || !config.content_dir.empty();
    const bool is_left_out = how == missing_directory::is_refused && is_missing(path);
    if (is_left_out && (config.content_store == content_home::directory || !config.content_dir.empty()))
        return startup_failure{"--content-dir " + path +
                               " is not there. The server makes it when it starts; is it another one?"};
    if (!is_left_out && (setup.directory_is_named || exists(path))) {
        auto opened = content_directory::open(path);
        if (!opened)
            return opened.error();
        setup.directory = std::move(*opened);
    }
    if (store_of(config) == content_place::s3 || !config.s3_endpoint.empty()) {
        auto opened = s3_bucket::open(s3_options_of(config));
        if (!opened)
            return opened.error();
        setup.objects = std::move(*opened);
    }
    return setup;
}

void content_setup::reload() const
{
    if (objects)
        objects->keys.reload();
}

void content_setup::add_stores(content_stores& to, executor ex, pq::connection_pool& db) const
{
    to.add(std::make_unique<inline_store>(db));
    if (directory)
        to.add(std::make_unique<directory_store>(ex, directory));
    if (directory && !directory_is_named)
        to.keep_leftovers(content_place::directory,
                          "neither --content-store nor --content-dir names " + directory->path());
    if (objects)
        to.add(std::make_unique<s3_store>(ex, *objects));
}

std::optional<store_directory> content_setup::received_in(const settings& config) const
{
    if (store_of(config) != content_place::directory)
        return std::nullopt;
    return store_directory{directory, config.content_inline_max};
}

}  // namespace restante
