#include "storage/content/s3/object_reader.hpp"

#include "http/client/client_error.hpp"

#include <utility>

namespace restante::s3 {

namespace {

constexpr auto admission_check = std::chrono::milliseconds(50);

std::string range_of(stretch part)
{
    return "bytes=" + std::to_string(part.first) + '-' + std::to_string(part.first + part.size - 1);
}

std::string_view content_range_of(const client_exchange& answer)
{
    return answer.status() == 206 ? answer.field("Content-Range") : std::string_view();
}

// 206 with the range that was asked for, or 200 with the whole when that was.
bool is_expected(const client_exchange& answer, stretch part, std::uint64_t size)
{
    if (answer.length() != part.size || !answer.field("Content-Encoding").empty())
        return false;
    const bool whole = answer.status() == 200 && part.size == size;
    return whole || is_content_range(content_range_of(answer), part, size);
}

// The answer says that the object has another size than the one that was stored.
bool shows_other_size(const client_exchange& answer, stretch part, std::uint64_t size)
{
    if (answer.status() == 200)
        return part.size == size && answer.length() && *answer.length() != size;
    const auto range = content_range_of(answer);
    return !range.empty() && !range.ends_with('/' + std::to_string(size));
}

}  // namespace

bool is_content_range(std::string_view text, stretch part, std::uint64_t size)
{
    const auto last = part.first + part.size - 1;
    return text ==
           "bytes " + std::to_string(part.first) + '-' + std::to_string(last) + '/' + std::to_string(size);
}

object_reader::object_reader(session from, std::string object, std::uint64_t size, stretch part)
    : from_(from),
      object_(std::move(object)),
      size_(size),
      left_(part),
      plan_(std::chrono::steady_clock::now())
{
}

awaitable<judgement> object_reader::ask()
{
    const call what{.object = object_, .range = range_of(left_)};
    auto got = co_await from_.send(what, nullptr);
    if (!got.exchange)
        co_return got.said;
    if (shows_other_size(*got.exchange, left_, size_))
        co_return judgement{verdict::missing, "the object has another size"};
    if (!is_expected(*got.exchange, left_, size_))
        co_return judgement{verdict::try_again, "the store answers something else than was asked for"};
    answer_ = std::move(got.exchange);
    answer_->lift_limit();
    has_answered_ = true;
    co_return judgement{};
}

awaitable<error_code> object_reader::open()
{
    while (!answer_ && left_.size > 0) {
        if (!from_.state().admit(access::read)) {
            // Whoever has not been promised anything yet is told at once.
            if (!has_answered_ || !plan_.lasts(std::chrono::steady_clock::now()))
                co_return RESTANTE_ERROR(errc::content_store_unavailable);
            steady_timer timer(co_await asio::this_coro::executor, admission_check);
            co_await timer.async_wait(use_await);
            continue;
        }
        const auto said = co_await ask();
        if (const auto ec = co_await from_.settle(access::read, said, plan_))
            co_return ec;
    }
    co_return error_code{};
}

awaitable<result<std::span<const char>>> object_reader::next()
{
    for (;;) {
        if (left_.size == 0)
            co_return std::span<const char>{};
        if (const auto ec = co_await open())
            co_return ec;
        const auto piece = co_await answer_->read_some();
        if (piece && !piece->empty()) {
            brought_bytes_ = true;
            left_.first += piece->size();
            left_.size -= piece->size();
            co_return *piece;
        }
        answer_.reset();
        const auto said = judge(piece ? error_code(client_errc::broken) : piece.error());
        if (const auto ec = co_await after_break(said))
            co_return ec;
    }
}

// A store that has sent bytes works, whatever cut the connection: the time in which nobody read, for one. The
// attempts that follow begin now, not when the bytes came.
awaitable<error_code> object_reader::after_break(judgement said)
{
    if (!std::exchange(brought_bytes_, false))
        co_return co_await from_.settle(access::read, said, plan_);
    plan_.reset(std::chrono::steady_clock::now());
    co_return co_await from_.pause(said, plan_);
}

}  // namespace restante::s3
