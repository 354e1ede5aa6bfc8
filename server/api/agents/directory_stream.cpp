#include "server/api/agents/directory_stream.hpp"

namespace restante {

namespace {

class directory_source final : public body_source {
public:
    directory_source(workspace_directory& directory, directory_query which, append_entry append,
                     memory_charge charge)
        : directory_(directory), which_(std::move(which)), append_(append), charge_(std::move(charge))
    {
    }

    // The next page into text_. Errors: no_room, those of the database.
    awaitable<error_code> read()
    {
        const auto page = co_await directory_.page(which_);
        if (!page)
            co_return page.error();
        text_ = began_ ? "" : "[";
        for (const auto& each : *page) {
            if (std::exchange(has_entries_, true))
                text_ += ',';
            append_(text_, each);
        }
        began_ = true;
        ended_ = static_cast<int>(page->size()) < workspace_directory::page_size;
        if (ended_)
            text_ += ']';
        else
            which_.after_time = page->back().created_at, which_.after_id = page->back().id;
        if (!charge_.grow_to(text_.capacity()))
            co_return RESTANTE_ERROR(errc::no_room);
        co_return error_code{};
    }

    std::optional<std::uint64_t> length() const override { return std::nullopt; }

    awaitable<result<std::span<const char>>> next() override
    {
        if (!first_taken_)
            first_taken_ = true;
        else if (ended_)
            text_.clear();
        else if (const auto ec = co_await read())
            co_return ec;
        co_return std::span<const char>(text_);
    }

    void finished(bool) override {}

private:
    workspace_directory& directory_;
    directory_query which_;
    append_entry append_;
    memory_charge charge_;
    std::string text_;
    bool began_ = false;
    bool has_entries_ = false;
    bool ended_ = false;
    bool first_taken_ = false;
};

}  // namespace

awaitable<response> stream_directory(const request_context& req, workspace_directory& directory,
                                     directory_query which, append_entry append)
{
    auto source = std::make_unique<directory_source>(directory, std::move(which), append,
                                                     req.charge(memory_use::answer));
    // Read before the head is sent, so that an unavailable database is still a 503.
    if (const auto ec = co_await source->read())
        co_return req.fail(ec);
    auto answer = req.json(http::status::ok, std::string());
    answer.head.set(http::field::cache_control, "no-store");
    answer.body = std::move(source);
    co_return answer;
}

}  // namespace restante
