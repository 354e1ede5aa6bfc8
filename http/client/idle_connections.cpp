#include "http/client/idle_connections.hpp"

#include <algorithm>

namespace restante {

namespace {

// Neither ended nor with bytes that nobody has asked for: those would be taken for the next answer.
bool is_silent(connection& conn)
{
    error_code ec;
    return !conn.stream.peek_end() && !conn.stream.has_buffered_bytes() &&
           conn.stream.socket().available(ec) == 0 && !ec;
}

}  // namespace

idle_connections::idle_connections(executor ex) : next_expiry_(ex, [this] { drop_expired(); }) {}

std::unique_ptr<connection> idle_connections::take(const http_origin& to)
{
    for (auto it = waiting_.end(); it != waiting_.begin();) {
        --it;
        if (it->to != to)
            continue;
        auto conn = std::move(it->conn);
        it = waiting_.erase(it);
        if (is_silent(*conn))
            return conn;
    }
    return nullptr;
}

void idle_connections::put(const http_origin& to, std::unique_ptr<connection> conn)
{
    const auto same = [&to](const entry& each) { return each.to == to; };
    if (stopped_ || waiting_.size() >= most ||
        std::count_if(waiting_.begin(), waiting_.end(), same) >= static_cast<std::ptrdiff_t>(most_for_one))
        return;
    conn->input.release_if_empty();
    waiting_.push_back({to, std::move(conn), clock::now() + lifetime});
    if (waiting_.size() == 1)
        next_expiry_.expires_at(waiting_.front().expires);
}

void idle_connections::stop()
{
    stopped_ = true;
    waiting_.clear();
    next_expiry_.expires_after(clock::duration::zero());  // or its timer would keep the shard from ending
}

void idle_connections::drop_expired()
{
    const auto now = clock::now();
    while (!waiting_.empty() && waiting_.front().expires <= now)
        waiting_.pop_front();
    if (!waiting_.empty())
        next_expiry_.expires_at(waiting_.front().expires);
}

}  // namespace restante
