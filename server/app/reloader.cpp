#include "server/app/reloader.hpp"

#include "cli/reload.hpp"
#include "core/log.hpp"
#include "server/app/server_tls.hpp"
#include "server/app/startup_warnings.hpp"

#include <boost/asio/post.hpp>

namespace restante {

reloader::reloader(const settings& started_with, settings_reader read, shard_set& shards,
                   std::deque<shard_app>& apps)
    : now_(started_with), read_(std::move(read)), shards_(shards), apps_(apps)
{
}

void reloader::reload()
{
    const auto given = read_();
    if (!given) {
        log_line(log_level::error, "settings_not_reloaded").field("error", given.error().message);
        return;
    }
    const auto change = compare_settings(now_, *given);
    const auto next = with_reloaded(now_, *given);
    if (!next.listen_tls.empty()) {
        const auto context = load_server_tls(next);
        if (!context) {
            log_line(log_level::error, "certificate_not_reloaded").field("error", context.error().message);
            return;
        }
        shards_.set_tls(*context);
        log_line(log_level::info, "certificate_reloaded");
    }
    apply(next);
    if (!change.needs_restart.empty())
        log_line(log_level::warn, "settings_need_restart").field("settings", list_of(change.needs_restart));
    log_line(log_level::info, "settings_reloaded").field("changed", list_of(change.applied));
    if (!change.applied.empty())
        warn_about_access(now_);
}

void reloader::apply(const settings& next)
{
    const auto live = std::make_shared<const live_settings>(live_settings_of(next));
    for (std::size_t i = 0; i < apps_.size(); ++i)
        asio::post(shards_[i].get_executor(), [&app = apps_[i], live] { app.apply(*live); });
    set_log_level(next.level);
    now_ = next;
}

}  // namespace restante
