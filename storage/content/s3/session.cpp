#include "storage/content/s3/session.hpp"

#include "core/log.hpp"
#include "http/client/client_error.hpp"
#include "storage/content/s3/retry_plan.hpp"

namespace restante::s3 {

namespace {

constexpr std::size_t largest_error = 64 * 1024;
constexpr std::size_t largest_document = 2 * 1024 * 1024;

std::chrono::sys_seconds now()
{
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

std::optional<std::chrono::seconds> skew_of(const client_exchange& exchange)
{
    const auto theirs = parse_http_date(exchange.field("Date"));
    if (!theirs)
        return std::nullopt;
    return now() - *theirs;
}

client_limits limits_of(const attempt_limits& basic, effort takes)
{
    const std::chrono::seconds transfer(takes.bytes / attempt_limits::slowest_rate);
    return {.whole = basic.whole + takes.work + transfer, .head = basic.head + takes.work};
}

awaitable<result<std::string>> read_document(client_exchange& exchange, std::size_t largest)
{
    std::string text;
    for (;;) {
        const auto piece = co_await exchange.read_some();
        if (!piece)
            co_return piece.error();
        if (piece->empty())
            co_return text;
        if (text.size() + piece->size() > largest)
            co_return client_errc::broken;
        text.append(piece->data(), piece->size());
    }
}

}  // namespace

session::session(http_client& client, const bucket_place& place, const credentials& keys, health& state,
                 attempt_limits limits)
    : client_(&client), place_(&place), keys_(&keys), state_(&state), limits_(limits)
{
}

awaitable<session::answered> session::send(call what, request_source* body, effort takes)
{
    auto exchange = client_->begin(limits_of(limits_, takes));
    auto request = make_request(*place_, *keys_->current(), what, now());
    request.trace = trace_ ? &*trace_ : nullptr;
    if (const auto ec = co_await exchange->send(std::move(request), body)) {
        if (ec.category() != client_category())
            co_return answered{{verdict::not_sent, "our copy of the file cannot be read"}};
        co_return answered{judge(ec)};
    }
    const auto status = exchange->status();
    if (status >= 200 && status < 300)
        co_return answered{{verdict::done}, std::move(exchange)};
    // A document that does not come whole is no reason to doubt the status.
    const auto document = co_await read_document(*exchange, largest_error);
    const auto error = document ? parse_error(*document) : error_answer{};
    co_return answered{judge(status, error, skew_of(*exchange))};
}

awaitable<session::told> session::ask(call what, request_source* body, effort takes)
{
    const auto got = co_await send(std::move(what), body, takes);
    if (!got.exchange)
        co_return told{got.said};
    auto document = co_await read_document(*got.exchange, largest_document);
    if (!document)
        co_return told{judge(document.error())};
    // Long operations answer 200 before they know, and then report their failure in the document.
    if (const auto error = parse_error(*document); !error.code.empty())
        co_return told{judge(500, error, skew_of(*got.exchange))};
    told answer{got.said, std::move(*document), std::string(got.exchange->field("ETag"))};
    co_return answer;
}

void session::report(std::string_view event, const judgement& said) const
{
    log_line line(log_level::warn, event);
    line.field("reason", said.words);
    if (trace_)
        line.field("trace_id", trace_->id());
}

awaitable<error_code> session::settle(access how, const judgement& said, retry_plan& plan)
{
    state_->note(how, said);
    switch (said.what) {
        case verdict::done: co_return error_code{};
        case verdict::missing: co_return RESTANTE_ERROR(errc::content_lost);
        case verdict::full:
        case verdict::refused:
            report("s3_refused", said);
            co_return RESTANTE_ERROR(errc::content_store_unavailable);
        case verdict::not_sent: report("s3_not_sent", said); co_return RESTANTE_ERROR(errc::io_error);
        case verdict::try_again: break;
    }
    co_return co_await pause(said, plan);
}

awaitable<error_code> session::pause(const judgement& said, retry_plan& plan)
{
    const auto pause = plan.after_failure(std::chrono::steady_clock::now());
    if (!pause) {
        report("s3_failed", said);
        co_return RESTANTE_ERROR(errc::content_store_unavailable);
    }
    steady_timer timer(co_await asio::this_coro::executor, *pause);
    co_await timer.async_wait(use_await);
    co_return error_code{};
}

awaitable<error_code> session::repeat(access how, attempt make)
{
    retry_plan plan(std::chrono::steady_clock::now());
    for (;;) {
        if (!state_->admit(how))
            co_return RESTANTE_ERROR(errc::content_store_unavailable);
        const auto said = co_await make();
        const auto ec = co_await settle(how, said, plan);
        if (ec || said.what == verdict::done)
            co_return ec;
    }
}

}  // namespace restante::s3
