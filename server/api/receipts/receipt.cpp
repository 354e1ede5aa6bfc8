// GET /workspaces/{id}/uploads/{file_id}: what became of a file, now or, with `wait`, as soon as it has come
// so far.
#include "auth/authenticator.hpp"
#include "server/api/common/caller.hpp"
#include "server/api/receipts/receipt_json.hpp"
#include "server/api/receipts/receipt_query.hpp"
#include "server/api/receipts/receipts.hpp"
#include "server/api/receipts/services.hpp"
#include "server/events/parked_read.hpp"
#include "server/events/parked_receipts.hpp"

namespace restante {

namespace {

class receipt_read final : public parked_read {
public:
    receipt_read(receipt_store& receipts, const request_context& req, const receipt_request& asked)
        : receipts_(receipts), req_(req), asked_(asked)
    {
        if (caller_of(req).sees_own_files_only())
            staged_by_ = caller_of(req).token;
    }

    awaitable<error_code> read() override
    {
        auto found = co_await receipts_.find(req_.workspace_id(), req_.file_id(), staged_by_);
        if (!found)
            co_return found.error();
        found_ = std::move(*found);
        co_return error_code{};
    }
    bool enough() const override { return asked_.is_met_by(found_.state); }
    std::int64_t reaches() const override { return progress_of(found_.state); }

    const receipt& found() const { return found_; }

private:
    receipt_store& receipts_;
    const request_context& req_;
    const receipt_request& asked_;
    std::optional<uuid> staged_by_;
    receipt found_;
};

response answer(const request_context& req, const receipt& found)
{
    auto answer = req.json(http::status::ok, receipt_json(found));
    answer.head.set(http::field::cache_control, "no-store");
    return answer;
}

}  // namespace

awaitable<response> handle_receipt(request_context& req, receipts_services& svc)
{
    const auto asked = read_receipt_query(req.query());
    if (!asked)
        co_return req.fail(asked.error());
    receipt_read reading(svc.receipts, req, *asked);
    if (asked->wait.count() == 0) {
        if (const auto ec = co_await reading.read())
            co_return req.fail(ec);
        co_return answer(req, reading.found());
    }
    if (const auto ec = co_await read_or_wait(req, svc.requests, svc.waiting, req.file_id(), caller_of(req),
                                              asked->wait, reading))
        co_return req.fail(ec);
    const auto valid = co_await svc.auth.still_valid(caller_of(req));
    if (!valid)
        co_return req.fail(valid.error());
    co_return answer(req, reading.found());
}

}  // namespace restante
