#include "server/api/push/push_metrics.hpp"

#include "http/client/client_error.hpp"

namespace restante {

namespace {

metric_set::number& bytes(metric_set& metrics, std::string_view direction)
{
    return metrics.counter("molecule_forwarded_bytes_total", "Body bytes of forwards.",
                           {{"direction", direction}});
}

}  // namespace

std::string_view to_string(forward_kind kind) noexcept
{
    switch (kind) {
        case forward_kind::upload: return "upload";
        case forward_kind::message: return "message";
        case forward_kind::download: return "download";
    }
    return "";
}

std::string_view to_string(forward_outcome outcome) noexcept
{
    switch (outcome) {
        case forward_outcome::answered: return "answered";
        case forward_outcome::refused: return "refused";
        case forward_outcome::not_allowed: return "not_allowed";
        case forward_outcome::unreachable: return "unreachable";
        case forward_outcome::broken: return "broken";
        case forward_outcome::late: return "late";
        case forward_outcome::client_gone: return "client_gone";
    }
    return "";
}

forward_outcome outcome_of(const error_code& ec) noexcept
{
    if (ec.category() != client_category())
        return ec == errc::client_gone ? forward_outcome::client_gone : forward_outcome::refused;
    switch (static_cast<client_errc>(ec.value())) {
        case client_errc::bad_url:
        case client_errc::address_refused: return forward_outcome::not_allowed;
        case client_errc::name_not_found:
        case client_errc::connect_failed:
        case client_errc::tls_failed:
        case client_errc::certificate_untrusted:
        case client_errc::certificate_of_other_host:
        case client_errc::certificate_expired: return forward_outcome::unreachable;
        case client_errc::broken: return forward_outcome::broken;
        case client_errc::late: return forward_outcome::late;
        case client_errc::cancelled: return forward_outcome::client_gone;
    }
    return forward_outcome::broken;
}

push_metrics::push_metrics(metric_set& metrics)
    : sent_(bytes(metrics, "out")), received_(bytes(metrics, "back"))
{
    for (std::size_t k = 0; k < kinds; ++k) {
        const auto kind = to_string(static_cast<forward_kind>(k));
        seconds_[k] =
            &metrics.seconds("molecule_forward_duration_seconds",
                             "Time of forwards to workspaces, to the end of the answer.", {{"kind", kind}});
        for (std::size_t o = 0; o < outcomes; ++o)
            forwards_[k][o] =
                &metrics.counter("molecule_forwards_total", "Forwards to workspaces by outcome.",
                                 {{"kind", kind}, {"outcome", to_string(static_cast<forward_outcome>(o))}});
    }
}

void push_metrics::count(forward_kind kind, forward_outcome outcome, double seconds)
{
    forwards_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(outcome)]->add();
    seconds_[static_cast<std::size_t>(kind)]->observe(seconds);
}

void push_metrics::count_bytes(std::uint64_t to_workspace, std::uint64_t from_workspace)
{
    sent_.add(static_cast<double>(to_workspace));
    received_.add(static_cast<double>(from_workspace));
}

}  // namespace restante
