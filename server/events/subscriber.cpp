#include "server/events/subscriber.hpp"

#include "server/events/hub.hpp"

namespace restante {

subscriber::subscriber(hub& at, executor ex, principal who, std::optional<uuid> workspace,
                       event_metrics& metrics)
    : hub_(at), who_(who), workspace_(workspace), metrics_(metrics), changed_(ex)
{
}

subscriber::~subscriber()
{
    unlink();
    hub_.forget(workspace_);
}

awaitable<void> subscriber::wait_until(wakeup::time_point moment)
{
    if (cause_ == close_cause::none && queue_.empty() && !rewound_to_)
        co_await changed_.wait_until(moment);
}

shared_event subscriber::take()
{
    auto next = queue_.pop();
    hold(next->size());
    return next;
}

void subscriber::hold(std::size_t bytes)
{
    sending_ += bytes;
    since_ = std::chrono::steady_clock::now();
}

double subscriber::burden(wakeup::time_point now) const
{
    const std::chrono::duration<double> age = now - since_;
    return static_cast<double>(held()) * age.count();
}

void subscriber::drop(close_cause why)
{
    disconnect(why);
    if (interrupt_)
        interrupt_();
}

void subscriber::rewind(std::int64_t seq)
{
    queue_.clear();
    rewound_to_ = start_ = seq;
    wake();
}

void subscriber::disconnect(close_cause why)
{
    if (cause_ != close_cause::none)
        return;
    cause_ = why;
    metrics_.dropped.add(static_cast<double>(queue_.size()));
    queue_.clear();
    wake();
}

void subscriber::put(const shared_event& next)
{
    if (cause_ != close_cause::none || queue(next))
        return;
    if (gaps_allowed_) {
        queue_.clear();
        queue_.push(next);
    } else {
        metrics_.dropped.add();
        disconnect(close_cause::fell_behind);
    }
}

// What is lost of the feed shows by the number of the next row, and a hint has none: it must not push rows
// out.
void subscriber::put_hint(const shared_event& next)
{
    if (cause_ == close_cause::none && !queue(next))
        metrics_.dropped.add();
}

bool subscriber::queue(const shared_event& next)
{
    const bool was_empty = queue_.empty();
    if (held() == 0)
        since_ = std::chrono::steady_clock::now();
    if (!queue_.push(next))
        return false;
    if (was_empty)
        wake();
    return true;
}

}  // namespace restante
