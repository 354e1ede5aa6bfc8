// GET /workspaces/{id}/chat-history: what user and agent have said to each other.
#include "storage/chat_history.hpp"

#include "auth/authenticator.hpp"
#include "core/json_text.hpp"
#include "http/message/query_reader.hpp"
#include "http/session/request_context.hpp"
#include "server/api/common/caller.hpp"
#include "server/api/inbox/inbox.hpp"
#include "server/api/inbox/services.hpp"
#include "server/messages/chat_message.hpp"

namespace restante {

namespace {

constexpr int default_limit = 50;
constexpr int max_limit = 200;
constexpr std::size_t enough_bytes = 1 << 20;
constexpr int most_pages = 25;  // 5,000 rows; only uploads without a message come to that

// Takes rows, newest first, and makes messages of them, until there are enough.
class chat_collector {
public:
    explicit chat_collector(int limit) : limit_(static_cast<std::size_t>(limit)) {}

    // Rows of one transaction have one time. A client asks on with the time of the oldest message that it
    // has, so those of one time come together, or some of them would never be shown.
    bool is_full_before(const chat_row& row) const
    {
        return (messages_.size() >= limit_ || bytes_ >= enough_bytes) && row.created_at != last_at_;
    }

    void add(const chat_row& row)
    {
        last_at_ = row.created_at;
        last_seq_ = row.seq;
        const chat_message unknown;
        if (row.left_out)
            return add(row, "user", unknown);
        if (row.response_body)
            if (const auto said = agent_message_in(*row.response_body))
                add(row, "agent", *said);
        if (row.request_body)
            if (const auto said = user_message_in(*row.request_body))
                add(row, "user", *said);
    }

    void reach_end() { reached_end_ = true; }
    std::size_t bytes() const { return bytes_; }
    std::int64_t last_seq() const { return last_seq_; }

    // Oldest first, as they are shown.
    std::string answer() const
    {
        std::string out = R"({"messages":[)";
        out.reserve(bytes_ + messages_.size() + 128);
        for (auto message = messages_.rbegin(); message != messages_.rend(); ++message) {
            out += message == messages_.rbegin() ? "" : ",";
            out += *message;
        }
        out += reached_end_ ? R"(],"reached_end":true)" : R"(],"reached_end":false)";
        if (!reached_end_ && messages_.empty())
            append_member(out, R"(,"next_before_ts":)", last_at_ + std::chrono::microseconds(1));
        out += '}';
        return out;
    }

private:
    void add(const chat_row& row, std::string_view role, const chat_message& said)
    {
        std::string out = R"({"id":")";
        append_to(out, row.id);
        out.append(":").append(role).append(R"(")");
        append_member(out, R"(,"role":)", role);
        append_member(out, R"(,"content":)", said.content);
        if (row.left_out)
            out += R"(,"content_omitted":true)";
        if (!said.attachments.empty()) {
            out += R"(,"attachments":)";
            append_attachments(out, said.attachments);
        }
        append_member(out, R"(,"timestamp":)", row.created_at);
        out += '}';
        bytes_ += out.size();
        messages_.push_back(std::move(out));
    }

    std::size_t limit_;
    std::vector<std::string> messages_;
    std::size_t bytes_ = 0;
    timestamp last_at_{};
    std::int64_t last_seq_ = 0;
    bool reached_end_ = false;
};

// Until there are enough, or no more.
awaitable<error_code> collect(const request_context& req, chat_history& from, chat_start start,
                              chat_collector& into, memory_charge& held)
{
    for (int pages = 0; pages < most_pages; ++pages) {
        const auto page = co_await from.read(req.workspace_id(), start);
        if (!page)
            co_return page.error();
        auto charged = req.charge(memory_use::page);
        if (!charged.grow_to(page->memory()) || !held.grow_to(into.bytes() + page->memory()))
            co_return RESTANTE_ERROR(errc::no_room);
        for (int i = 0; i < page->size(); ++i) {
            const auto row = (*page)[i];
            if (!row)
                co_return row.error();
            if (into.is_full_before(*row))
                co_return error_code{};
            into.add(*row);
        }
        if (page->is_last()) {
            into.reach_end();
            break;
        }
        start.up_to = into.last_seq() - 1;
    }
    co_return error_code{};
}

}  // namespace

awaitable<response> handle_chat_history(request_context& req, inbox_services& svc)
{
    query_reader read(req.query());
    const int limit = read.limit(default_limit, max_limit);
    const chat_start start{.before = read.value("before_ts", "a time in RFC 3339", parse_rfc3339)};
    if (read.refused())
        co_return req.fail(*read.refused());
    const auto known = co_await svc.auth.workspace_for(caller_of(req), req.workspace_id());
    if (!known)
        co_return req.fail(known.error());
    chat_collector messages(limit);
    auto held = req.charge(memory_use::answer);
    if (const auto ec = co_await collect(req, svc.chat, start, messages, held))
        co_return req.fail(ec);
    co_return req.list(messages.answer());
}

}  // namespace restante
