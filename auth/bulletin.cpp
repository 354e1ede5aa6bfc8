#include "auth/bulletin.hpp"

#include <boost/asio/post.hpp>

namespace restante {

template <class Announcement>
void bulletin_board::post_to_all(Announcement what, const bulletin_reader* except) const
{
    for (const auto& each : readers_)
        if (each.reader != except)
            asio::post(each.home, [reader = each.reader, what] { what(*reader); });
}

void bulletin_board::token_revoked(const uuid& token, const bulletin_reader* except) const
{
    post_to_all([token](bulletin_reader& reader) { reader.on_token_revoked(token); }, except);
}

void bulletin_board::workspace_changed(const uuid& workspace, const bulletin_reader* except) const
{
    post_to_all([workspace](bulletin_reader& reader) { reader.on_workspace_changed(workspace); }, except);
}

void bulletin_board::workspace_removed(const uuid& workspace, const bulletin_reader* except) const
{
    post_to_all([workspace](bulletin_reader& reader) { reader.on_workspace_removed(workspace); }, except);
}

void bulletin_board::wrong_token(const asio::ip::address& from, const bulletin_reader& noticed_by) const
{
    post_to_all([from](bulletin_reader& reader) { reader.on_wrong_token(from); }, &noticed_by);
}

}  // namespace restante
