#include "server/api/push/forwarded_answer.hpp"

#include "server/api/common/safety_fields.hpp"

#include <utility>

namespace restante {

namespace {

constexpr std::uint64_t small_answer = 32 * 1024;

class forwarded_body final : public body_source {
public:
    // `first` is what was read of it already, or nothing for an answer without a body.
    forwarded_body(request_context& req, std::unique_ptr<client_exchange> from, std::span<const char> first,
                   forward_record record, std::string host)
        : req_(req), from_(std::move(from)), first_(first), record_(record), host_(std::move(host))
    {
    }
    ~forwarded_body() override { req_.forget_client(); }

    std::optional<std::uint64_t> length() const override { return from_->length(); }

    awaitable<result<std::span<const char>>> next() override
    {
        // While a piece is written, that shows whether the client is there; while the workspace thinks, this
        // does.
        if (!watched_)
            req_.on_client_gone([&from = *from_] { from.cancel(); });
        watched_ = true;
        if (!first_.empty())
            co_return std::exchange(first_, {});
        auto piece = co_await from_->read_some();
        if (!piece)
            failure_ = piece.error();
        co_return piece;
    }

    void finished(bool all_bytes_sent) override
    {
        req_.forget_client();
        if (all_bytes_sent || from_->at_end())  // for HEAD there is nothing to send
            return record_.answered(from_->head().result_int(), from_->sent(), from_->received());
        const auto why = failure_ ? failure_ : error_code(errc::client_gone);
        record_.failed(why, host_, from_->sent(), from_->received());
    }

private:
    request_context& req_;
    bool watched_ = false;
    std::unique_ptr<client_exchange> from_;
    std::span<const char> first_;
    forward_record record_;
    std::string host_;
    error_code failure_;
};

void copy_field(const client_exchange& from, response& to, http::field name)
{
    if (const auto at = from.head().find(name); at != from.head().end())
        to.head.set(name, at->value());
}

awaitable<result<std::string>> read_whole(client_exchange& from)
{
    std::string text;
    for (;;) {
        const auto piece = co_await from.read_some();
        if (!piece)
            co_return piece.error();
        if (piece->empty())
            co_return text;
        text.append(piece->data(), piece->size());
    }
}

}  // namespace

awaitable<result<response>> make_forwarded_answer(request_context& req, std::unique_ptr<client_exchange> from,
                                                  forward_record record, forward_kind kind, std::string host)
{
    response answer;
    answer.head.result(from->status());  // Beast has no name for some
    copy_field(*from, answer, http::field::content_type);
    if (kind == forward_kind::download) {
        copy_field(*from, answer, http::field::content_disposition);
        add_safety_fields(answer);
    }

    const auto length = from->length();
    const bool has_body = !from->at_end() || (length && *length == 0);
    if (length && *length <= small_answer && has_body) {
        auto text = co_await read_whole(*from);
        if (!text) {
            record.failed(text.error(), host, from->sent(), from->received());
            co_return text.error();
        }
        record.answered(from->head().result_int(), from->sent(), from->received());
        answer.body = std::move(*text);
        co_return answer;
    }
    // The status goes out with the first piece, so an answer that breaks before it is a failure that can
    // still be told. A client that leaves meanwhile ends it, whoever watched before.
    req.on_client_gone([&exchange = *from] { exchange.cancel(); });
    const auto first = co_await from->read_some();
    if (!first) {
        record.failed(first.error(), host, from->sent(), from->received());
        co_return first.error();
    }
    answer.body = std::make_unique<forwarded_body>(req, std::move(from), *first, record, std::move(host));
    co_return answer;
}

}  // namespace restante
