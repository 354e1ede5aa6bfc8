#include "server/api/uploads/form_reader.hpp"

#include "http/multipart/parser.hpp"

namespace restante {

namespace {

using multipart::event;

refusal too_large_file(const form_file& file, const form_limits& limits)
{
    return {errc::file_too_large,
            {{"filename", file.raw_name}, {"size", file.content->size()}, {"max", limits.file_bytes}}};
}

// Turns the parser's events into files.
class form_builder {
public:
    form_builder(const form_limits& limits, const upload_grant& grant, std::shared_ptr<disk_claim> disk)
        : limits_(limits), grant_(grant), disk_(std::move(disk))
    {
    }

    awaitable<answerable<void>> take(const event& next, const multipart::part_head& head)
    {
        switch (next.kind) {
            case event::type::part_begin: co_return begin(head);
            case event::type::data: co_return co_await add(next.bytes);
            case event::type::part_end: co_return co_await end();
            case event::type::need_more: break;
        }
        co_return answerable<void>();
    }

    answerable<std::vector<form_file>> files()
    {
        if (files_.empty())
            return refusal(errc::no_files);
        return std::move(files_);
    }

private:
    // An empty file name is a browser's file input with nothing chosen.
    answerable<void> begin(const multipart::part_head& head)
    {
        in_file_ = head.name == "files" && head.filename && !head.filename->empty();
        if (!in_file_)
            return {};
        if (files_.size() == limits_.files)
            return refusal(errc::too_many_files,
                           "too many files (limit " + std::to_string(limits_.files) + ")");
        if (auto refused = grant_.refuse_file(files_.size() + 1, head.content_type))
            return std::move(*refused);
        files_.push_back({*head.filename, head.content_type, std::make_shared<spool>(disk_)});
        return {};
    }

    awaitable<answerable<void>> add(std::string_view bytes)
    {
        total_ += bytes.size();
        if (total_ > limits_.request_bytes)
            co_return refusal(errc::request_too_large, {{"max", limits_.request_bytes}});
        if (!in_file_)
            co_return answerable<void>();
        file_bytes_ += bytes.size();
        if (auto refused = grant_.refuse_bytes(file_bytes_))
            co_return std::move(*refused);
        form_file& file = files_.back();
        if (auto ec = co_await file.content->write({bytes.data(), bytes.size()}))
            co_return refusal(ec);
        if (file.content->size() > limits_.file_bytes)
            co_return too_large_file(file, limits_);
        co_return answerable<void>();
    }

    awaitable<answerable<void>> end()
    {
        if (!in_file_)
            co_return answerable<void>();
        form_file& file = files_.back();
        if (file.content->size() == 0)
            co_return refusal(errc::empty_file, {{"filename", file.raw_name}});
        if (auto ec = co_await file.content->finish())
            co_return refusal(ec);
        co_return answerable<void>();
    }

    const form_limits& limits_;
    const upload_grant& grant_;
    std::shared_ptr<disk_claim> disk_;
    std::vector<form_file> files_;
    std::uint64_t total_ = 0;
    std::uint64_t file_bytes_ = 0;
    bool in_file_ = false;
};

}  // namespace

awaitable<answerable<std::vector<form_file>>> read_form(body_reader& body,
                                                        const multipart::boundary& separator,
                                                        const form_limits& limits, const upload_grant& grant,
                                                        std::shared_ptr<disk_claim> disk)
{
    multipart::parser parser(separator, {.parts = limits.parts});
    form_builder form(limits, grant, std::move(disk));
    for (;;) {
        auto block = co_await body.read_some();
        if (!block) {
            if (block.error() == errc::request_too_large)
                co_return refusal(errc::request_too_large, {{"max", limits.request_bytes}});
            co_return refusal(block.error());
        }
        if (block->empty())
            break;
        parser.feed(*block);
        for (;;) {
            auto next = parser.next();
            if (!next)
                co_return refusal(next.error());
            if (next->kind == event::type::need_more)
                break;
            auto taken = co_await form.take(*next, parser.head());
            if (!taken)
                co_return taken.error();
        }
    }
    if (auto complete = parser.finish(); !complete)
        co_return refusal(complete.error());
    co_return form.files();
}

}  // namespace restante
