#include "server/api/common/rejection_log.hpp"

#include "core/log.hpp"
#include "http/session/request_context.hpp"

#include <utility>

namespace restante {

namespace {

constexpr auto name = "molecule_auth_rejected_total";
constexpr auto help = "Requests without a right token, by reason";

}  // namespace

rejection_log::rejection_log(metric_set& metrics)
    : missing_(metrics.counter(name, help, {{"reason", "missing_token"}})),
      invalid_(metrics.counter(name, help, {{"reason", "invalid_token"}})),
      scope_(metrics.counter(name, help, {{"reason", "insufficient_scope"}})),
      too_many_(metrics.counter(name, help, {{"reason", "too_many_failed_logins"}})),
      cross_site_(metrics.counter(name, help, {{"reason", "cross_site"}}))
{
}

void rejection_log::note(const request_context& request, const error_code& why, clock::time_point now)
{
    if (why == errc::missing_token)
        missing_.add();
    else if (why == errc::invalid_token)
        invalid_.add();
    else if (why == errc::insufficient_scope)
        scope_.add();
    else if (why == errc::too_many_failed_logins)
        too_many_.add();
    else if (why == errc::cross_site)
        cross_site_.add();
    else
        return;  // database errors are logged where they arise

    if (!may_write(now)) {
        ++left_out_;
        return;
    }
    log_line line(log_level::info, "auth_rejected");
    line.from(request.origin()).field("remote", request.remote_text());
    line.field("reason", public_error_of(to_errc(why)).code);
    if (!request.workspace_id().is_nil())
        line.field("workspace_id", request.workspace_id());
    if (left_out_ > 0)
        line.field("lines_left_out", std::exchange(left_out_, 0));
}

bool rejection_log::may_write(clock::time_point now)
{
    if (now - second_began_ >= std::chrono::seconds(1)) {
        second_began_ = now;
        written_ = 0;
    }
    return ++written_ <= lines_a_second;
}

}  // namespace restante
