#include "client/server_api.hpp"

#include "client/backoff.hpp"
#include "core/worker_pool.hpp"
#include "http/client/client_error.hpp"

namespace restante::client {

namespace {

namespace http = boost::beast::http;

// A page of the feed has at most 1 MiB of large bodies, or one message: of 64 MiB where a server allows
// the most, and PostgreSQL stores it with spaces that it did not have.
constexpr std::size_t largest_answer = 160 << 20;
// A body takes as long as it takes while it keeps coming: client_limits::answer_progress.
constexpr auto longest_exchange = std::chrono::hours(24);

class text_body final : public request_source {
public:
    explicit text_body(std::string text) : text_(std::move(text)) {}

    std::optional<std::uint64_t> length() const override { return text_.size(); }
    awaitable<result<std::span<const char>>> next() override
    {
        const std::size_t size = std::exchange(left_, false) ? text_.size() : 0;
        co_return std::span<const char>(text_.data(), size);
    }
    void interrupt() override {}

private:
    std::string text_;
    bool left_ = true;
};

// It is the user who says where the server is: any address may be the right one.
bool any_address(const asio::ip::address&)
{
    return true;
}

const char* code_of(const error_code& ec)
{
    if (ec == client_errc::name_not_found)
        return "name_not_found";
    if (ec == client_errc::connect_failed)
        return "connect_failed";
    if (is_tls_failure(ec))
        return "tls_failed";
    if (ec == client_errc::late)
        return "timeout";
    return "connection_broken";
}

std::string why_no_tls(const error_code& ec)
{
    if (ec == client_errc::tls_failed)
        return "the server does not speak TLS there, or no version that is safe";
    if (ec == client_errc::certificate_untrusted)
        return ec.message() + "; --ca-file names who else is trusted";
    return ec.message();
}

}  // namespace

std::string_view field_of(const client_exchange::answer_head& head, http::field name)
{
    const auto at = head.find(name);
    return at == head.end() ? std::string_view() : std::string_view(at->value().data(), at->value().size());
}

failure network_failure(const error_code& ec, std::string_view what)
{
    failure out{exit_code::gave_up, code_of(ec), std::string(what) + ": " + ec.message() + '.', true};
    // A certificate does not become right by asking again.
    if (is_tls_failure(ec)) {
        out.transient = false;
        out.exit = exit_code::failed;
        out.text = std::string(what) + ": no TLS connection: " + why_no_tls(ec) + '.';
    }
    return out;
}

server_api::server_api(executor ex, const settings& config, tls_context tls, token_source& token)
    : config_(config),
      token_(token),
      token_read_(ex),
      client_(ex, dial_options{.names = names_, .judge = any_address, .tls = std::move(tls)})
{
}

client_request server_api::make_request(http_verb method, const std::string& path) const
{
    client_request out{.to = config_.url.origin, .method = method, .target = config_.url.path + path};
    out.fields.push_back({"User-Agent", "restante-client"});
    if (!token_.token().empty())
        out.fields.push_back({"Authorization", "Bearer " + token_.token()});
    return out;
}

awaitable<outcome<answer>> read_answer(client_exchange& from)
{
    answer out;
    out.status = from.head().result_int();
    out.location = field_of(from.head(), http::field::location);
    out.retry_after = parse_retry_after(field_of(from.head(), http::field::retry_after));
    for (;;) {
        const auto piece = co_await from.read_some();
        if (!piece)
            co_return network_failure(piece.error(), "reading an answer");
        if (piece->empty())
            co_return out;
        if (out.body.size() + piece->size() > largest_answer)
            co_return failure{exit_code::gave_up, "bad_answer", "An answer of the server does not end.",
                              true};
        out.body.append(piece->data(), piece->size());
    }
}

awaitable<outcome<answer>> server_api::exchange(client_request what, request_source* body,
                                                milliseconds within)
{
    const client_limits limits{.whole = longest_exchange, .head = within};
    const auto one = client_.begin(limits);
    const auto ec = co_await one->send(std::move(what), body);
    if (ec)
        co_return network_failure(ec, config_.server);
    co_return co_await read_answer(*one);
}

awaitable<outcome<answer>> server_api::get(std::string path, milliseconds within)
{
    co_return co_await exchange(make_request(http_verb::get, path), nullptr, within);
}

awaitable<outcome<answer>> server_api::post(std::string path, std::string json, milliseconds within,
                                            std::string idempotency_key)
{
    auto what = make_request(http_verb::post, path);
    what.fields.push_back({"Content-Type", "application/json"});
    if (!idempotency_key.empty())
        what.fields.push_back({"Idempotency-Key", std::move(idempotency_key)});
    text_body body(std::move(json));
    co_return co_await exchange(std::move(what), &body, within);
}

awaitable<bool> server_api::refresh_token(unsigned refused, failure& why)
{
    // Requests that were under way together are refused together, and the first of them reads it.
    while (reading_token_)
        co_await token_read_.wait();
    if (refused != token_.generation())
        co_return true;
    if (std::exchange(read_again_, true))
        co_return false;
    reading_token_ = true;
    auto again = [this] { return token_.read_again(); };
    auto read = co_await shared_workers().run(std::move(again));
    reading_token_ = false;
    token_read_.notify_all();
    if (!read)
        why.text += ". " + read.error().text;
    co_return read&& token_.replace(*std::move(read));
}

}  // namespace restante::client
