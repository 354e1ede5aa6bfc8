#include "server/api/push/forward_record.hpp"

#include "core/log.hpp"

namespace restante {

namespace {

std::string_view event_of(forward_kind kind)
{
    switch (kind) {
        case forward_kind::upload: return "upload_forwarded";
        case forward_kind::message: return "message_forwarded";
        case forward_kind::download: return "download_forwarded";
    }
    return "";
}

}  // namespace

double forward_record::milliseconds() const
{
    return std::chrono::duration<double, std::milli>(clock::now() - begun_).count();
}

void forward_record::count(forward_outcome outcome, std::uint64_t sent, std::uint64_t received)
{
    metrics_.count(kind_, outcome, milliseconds() / 1000);
    metrics_.count_bytes(sent, received);
}

void forward_record::answered(unsigned status, std::uint64_t sent, std::uint64_t received)
{
    count(forward_outcome::answered, sent, received);
    log_line(log_level::info, event_of(kind_))
        .from(req_.origin())
        .field("workspace_id", req_.workspace_id())
        .field("status", status)
        .field("size", sent)
        .field("answer_size", received)
        .field("duration_ms", milliseconds())
        .field("remote", req_.remote_text());
}

void forward_record::failed(const error_code& why, std::string_view host, std::uint64_t sent,
                            std::uint64_t received)
{
    const auto outcome = outcome_of(why);
    count(outcome, sent, received);
    log_line(log_level::warn, "forward_failed")
        .from(req_.origin())
        .field("workspace_id", req_.workspace_id())
        .field("kind", to_string(kind_))
        .field("outcome", to_string(outcome))
        .field("host", host)
        .field("size", sent)
        .field("duration_ms", milliseconds())
        .field("remote", req_.remote_text())
        .failure(why);
}

}  // namespace restante
