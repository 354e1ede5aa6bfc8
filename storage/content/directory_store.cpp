#include "storage/content/directory_store.hpp"

#include "core/file_io.hpp"
#include "core/log.hpp"
#include "core/worker_pool.hpp"
#include "storage/content/at_once.hpp"
#include "storage/content/content_key.hpp"
#include "storage/content/directory_reader.hpp"

#include <cerrno>
#include <cstring>
#include <set>

namespace restante {

namespace {

constexpr auto probe_interval = std::chrono::seconds(1);
constexpr std::size_t copied_at_once = 256 * 1024;
// Syncs that run at the same time share the disk's work; half of the workers are left to other requests.
constexpr std::size_t writes_at_once = 4;

// A process without descriptors or memory has enough of them a moment later; its disk is well.
bool is_shortage(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

// What is not there, or is not the file that we have put there.
bool is_lost(int error)
{
    return error == ENOENT || error == ELOOP || error == ENOTDIR || error == EXDEV || error == EINVAL;
}

}  // namespace

directory_store::directory_store(executor ex, std::shared_ptr<content_directory> where)
    : ex_(ex), where_(std::move(where)), checks_(ex, where_->known())
{
}

error_code directory_store::write_failure(int error)
{
    if (is_shortage(error))
        return RESTANTE_ERROR(errc::no_room);
    where_->note_failure(error);
    return RESTANTE_ERROR(errc::content_store_unavailable);
}

// On success the bytes are durable and have their name, which is not durable yet.
awaitable<error_code> directory_store::write_bytes(const content_to_store& file)
{
    const auto memory = file.bytes->in_memory();
    const int received = file.bytes->nameless_file();
    if (!memory && received < 0)
        co_return co_await copy_bytes(file);
    if (memory && !where_->take_room(memory->size()))
        co_return RESTANTE_ERROR(errc::content_store_unavailable);
    auto job = [&] {
        if (!memory)
            return where_->name(received, file.key, file.sha256);
        unique_fd made;
        if (const int error = where_->open_nameless(made))
            return error;
        const int error = write_all_direct(made.get(), 0, *memory);
        return error != 0 ? error : where_->name(made.get(), file.key, file.sha256);
    };
    const int error = co_await disk_workers().run(job);
    // A file system without nameless files, or another one than that of the received file.
    if (error == EOPNOTSUPP || error == EISDIR || error == EXDEV || error == ENOENT)
        co_return co_await copy_bytes(file);
    co_return error == 0 ? error_code{} : write_failure(error);
}

awaitable<error_code> directory_store::copy_bytes(const content_to_store& file)
{
    if (!where_->take_room(file.bytes->size()))
        co_return RESTANTE_ERROR(errc::content_store_unavailable);
    unique_fd made;
    auto create = [&] { return where_->begin_copy(file.key, made); };
    if (const int error = co_await disk_workers().run(create))
        co_return write_failure(error);
    std::vector<char> block(copied_at_once);
    for (std::uint64_t done = 0; done < file.bytes->size();) {
        const auto piece = co_await file.bytes->read(done, block);
        if (!piece)
            co_return piece.error();
        if (piece->empty())
            co_return RESTANTE_ERROR(errc::io_error);
        auto write = [&] { return write_all_at(made.get(), done, *piece); };
        if (const int error = co_await disk_workers().run(write))
            co_return write_failure(error);
        done += piece->size();
    }
    auto finish = [&] { return where_->finish_copy(made.get(), file.key); };
    if (const int error = co_await disk_workers().run(finish))
        co_return write_failure(error);
    co_return error_code{};
}

// Files that get their names at the same time share the sync of the folder.
awaitable<error_code> directory_store::sync_folder(std::string hour)
{
    auto& known = syncs_[hour];
    if (!known) {
        auto sync = [this, hour]() -> awaitable<int> {
            auto job = [this, hour] { return where_->sync_hour(hour); };
            co_return co_await disk_workers().run(job);
        };
        known = std::make_shared<shared_run<int>>(ex_, sync, ECANCELED);
    }
    const auto mine = known;  // others may forget the hour meanwhile
    const int error = co_await mine->run();
    if (syncs_.size() > 4)
        std::erase_if(syncs_, [&](const auto& each) { return each.first < hour; });
    co_return error == 0 ? error_code{} : write_failure(error);
}

awaitable<error_code> directory_store::write(std::span<const content_to_store> files)
{
    std::set<std::string> hours;
    for (const auto& file : files) {
        const auto key = parse_content_key(file.key);
        if (!key)
            co_return RESTANTE_ERROR(errc::internal_error);
        hours.emplace(key->hour);
    }
    // Kept by the tasks that write them, however this ends.
    const auto all = std::make_shared<const std::vector<content_to_store>>(files.begin(), files.end());
    auto write = [this, all](std::size_t which) -> awaitable<error_code> {
        return write_bytes((*all)[which]);
    };
    if (auto ec = co_await do_at_once(all->size(), writes_at_once, write))
        co_return ec;
    for (const auto& hour : hours)
        if (auto ec = co_await sync_folder(hour))
            co_return ec;
    co_return error_code{};
}

awaitable<result<std::unique_ptr<content_reader>>> directory_store::open(stored_content what,
                                                                         content_part part)
{
    unique_fd file;
    int error = where_->open_file(what.key, true, file);
    if (error == EAGAIN || (error == EINVAL && parse_content_key(what.key))) {
        auto job = [&] { return where_->open_file(what.key, false, file); };
        error = co_await disk_workers().run(job);
    }
    if (is_shortage(error))
        co_return RESTANTE_ERROR(errc::no_room);
    if (error != 0) {
        log_line(log_level::debug, "content_not_opened")
            .field("file_id", what.file_id)
            .field("reason", std::strerror(error));
        co_return is_lost(error) ? RESTANTE_ERROR(errc::content_lost)
                                 : RESTANTE_ERROR(errc::content_store_unavailable);
    }
    const auto found = identify(file.get());
    if (!found || found->size != what.size)
        co_return RESTANTE_ERROR(errc::content_lost);
    co_return std::make_unique<directory_reader>(checks_, std::move(file), *found, what.sha256, part);
}

awaitable<result<std::vector<std::string>>> directory_store::remove(std::span<const std::string> keys)
{
    std::vector<std::string> kept;
    auto job = [&] {
        int failure = 0;
        for (const auto& key : keys)
            // A key that we have never made is no file of ours.
            if (const int error = where_->remove(key); error != 0 && error != EINVAL) {
                kept.push_back(key);
                failure = failure == 0 ? error : failure;
            }
        return failure;
    };
    if (const int failure = co_await disk_workers().run(job))
        log_line(log_level::warn, "content_not_removed")
            .field("store", "directory")
            .field("files", std::uint64_t{kept.size()})
            .field("first", kept.front())
            .field("reason", std::strerror(failure));
    co_return kept;
}

awaitable<result<std::vector<listed_content>>> directory_store::list(std::string after, std::string before,
                                                                     std::size_t limit)
{
    std::vector<listed_content> found;
    auto job = [&] { return where_->list(after, before, limit, found); };
    const int error = co_await disk_workers().run(job);
    if (error != 0)
        co_return RESTANTE_ERROR(errc::content_store_unavailable);
    co_return found;
}

bool directory_store::has_room(std::uint64_t bytes) const
{
    return !trouble() && bytes <= where_->free_bytes();
}

awaitable<void> directory_store::run(task_group& tasks)
{
    do {
        auto job = [this] { return where_->probe(), 0; };
        co_await disk_workers().run(job);
    } while (!co_await tasks.stopped_within(probe_interval));
}

}  // namespace restante
