#include "server/api/push/forward.hpp"

#include "auth/authenticator.hpp"
#include "http/client/client_error.hpp"
#include "http/client/http_client.hpp"
#include "http/session/request_context.hpp"
#include "server/api/common/caller.hpp"
#include "server/api/common/delivery.hpp"
#include "server/api/push/callback_lookups.hpp"
#include "server/api/push/download_path.hpp"
#include "server/api/push/forward_record.hpp"
#include "server/api/push/forwarded_answer.hpp"
#include "server/api/push/services.hpp"

namespace restante {

namespace {

// Half of what a forward may hold; the rest is the answer's and the kernel's way of counting.
constexpr std::size_t body_block = 128 * 1024;

// The caller's body, as it comes. A caller who leaves ends the forward: while the workspace is being
// connected to and once all of the body is there, this is watched for; in between, the next read shows it.
class caller_body final : public request_source {
public:
    caller_body(request_context& req, client_exchange& exchange) : req_(req), exchange_(exchange)
    {
        req_.body().set_block_size(body_block);
    }

    std::optional<std::uint64_t> length() const override
    {
        if (req_.body().chunked())
            return std::nullopt;
        return req_.body().announced();
    }

    awaitable<result<std::span<const char>>> next() override
    {
        if (!begun_)
            req_.forget_client();
        begun_ = true;
        auto piece = co_await req_.body().read_some();
        if (piece && piece->empty())
            req_.on_client_gone([&exchange = exchange_] { exchange.cancel(); });
        co_return piece;
    }

    void interrupt() override { req_.body().interrupt(); }

private:
    request_context& req_;
    client_exchange& exchange_;
    bool begun_ = false;
};

std::string without_trailing_slashes(std::string path)
{
    while (path.ends_with('/'))
        path.pop_back();
    return path;
}

// What every forward carries; nothing else of the caller's headers is passed on.
client_request make_request(const request_context& req, const callback& to, http::verb method,
                            std::string target)
{
    client_request out{.to = to.url.origin,
                       .method = method,
                       .target = std::move(target),
                       .fields = {},
                       .trace = &req.trace()};
    out.fields.push_back({"Authorization", "Bearer " + to.secret});
    out.fields.push_back({"X-Request-Id", std::string(req.id())});
    return out;
}

void copy_content_type(const request_context& req, client_request& out)
{
    if (const auto type = req.header(http::field::content_type); !type.empty())
        out.fields.push_back({"Content-Type", std::string(type)});
}

refusal refusal_of(const error_code& ec, const refusal& too_large)
{
    if (ec == errc::request_too_large)
        return too_large;
    if (ec == client_errc::address_refused || ec == client_errc::bad_url)
        return errc::callback_url_not_allowed;
    if (ec == client_errc::cancelled)
        return errc::client_gone;
    if (ec.category() == client_category())
        return errc::workspace_unreachable;
    return ec;
}

struct forward_job {
    forward_kind kind;
    client_request what;
    bool with_body = true;
    client_limits limits = {};
    refusal too_large = {};  // the answer to a body above the cap
};

awaitable<response> forward(request_context& req, push_services& svc, forward_job job)
{
    forward_record record(req, svc.metrics, job.kind);
    auto exchange = svc.client.begin(job.limits);
    const std::string host = job.what.to.authority();

    caller_body body(req, *exchange);
    request_source* source = job.with_body ? &body : nullptr;
    auto end_it = [&to = *exchange] { to.cancel(); };
    if (source)
        req.on_client_gone_early(end_it);
    else
        req.on_client_gone(end_it);
    auto ec = co_await exchange->send(std::move(job.what), source);
    if (!ec) {
        auto answer = co_await make_forwarded_answer(req, std::move(exchange), record, job.kind, host);
        req.forget_client();
        if (answer)
            co_return std::move(*answer);
        co_return req.fail(refusal_of(answer.error(), job.too_large));
    }
    req.forget_client();
    record.failed(ec, host, exchange->sent(), exchange->received());
    co_return req.fail(refusal_of(ec, job.too_large));
}

}  // namespace

awaitable<response> forward_upload(request_context& req, push_services& svc, std::uint64_t max)
{
    const auto to = co_await svc.callbacks.find(req.workspace_id());
    if (!to)
        co_return req.fail(to.error());
    auto target = without_trailing_slashes((*to)->url.path) + "/internal/chat/uploads/ingest";
    forward_job job{.kind = forward_kind::upload,
                    .what = make_request(req, **to, http::verb::post, std::move(target)),
                    .limits = {.whole = svc.limit},
                    .too_large = {errc::request_too_large, {{"max", max}}}};
    copy_content_type(req, job.what);
    co_return co_await forward(req, svc, std::move(job));
}

awaitable<response> forward_message(request_context& req, push_services& svc)
{
    // The field is not passed on, and the workspace would take what is compressed for the message.
    if (!req.header(http::field::content_encoding).empty())
        co_return req.fail(errc::unsupported_media_type);
    const auto to = co_await svc.callbacks.find(req.workspace_id());
    if (!to)
        co_return req.fail(to.error());
    const auto& path = (*to)->url.path;
    // An agent may think for minutes between two pieces of its answer.
    forward_job job{.kind = forward_kind::message,
                    .what = make_request(req, **to, http::verb::post, path.empty() ? "/" : path),
                    .limits = {.whole = svc.limit, .answer_progress = false},
                    .too_large = refuse_message_size(req.body().cap())};
    copy_content_type(req, job.what);
    co_return co_await forward(req, svc, std::move(job));
}

awaitable<response> handle_chat_download(request_context& req, push_services& svc)
{
    const auto path = read_download_path(req.head().target());
    if (!path)
        co_return req.fail(path.error());
    const auto workspace = co_await svc.auth.workspace_for(caller_of(req), req.workspace_id());
    if (!workspace)
        co_return req.fail(workspace.error());
    const auto way = decide_delivery(*workspace);
    if (!way)
        co_return req.fail(way.error());
    if (*way != delivery::forward)
        co_return req.fail(errc::no_callback_url);
    const auto to = co_await svc.callbacks.find(req.workspace_id());
    if (!to)
        co_return req.fail(to.error());
    auto target = without_trailing_slashes((*to)->url.path) + "/internal/file/read?path=" + *path;
    forward_job job{.kind = forward_kind::download,
                    .what = make_request(req, **to, req.method(), std::move(target)),
                    .with_body = false,
                    .limits = {.whole = svc.limit}};
    co_return co_await forward(req, svc, std::move(job));
}

}  // namespace restante
