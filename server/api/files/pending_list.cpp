// GET /workspaces/{id}/pending-uploads: what waits for the workspace, oldest first.
#include "core/encoding.hpp"
#include "core/json_text.hpp"
#include "http/message/query_reader.hpp"
#include "http/session/request_context.hpp"
#include "server/api/common/pending_uri.hpp"
#include "server/api/files/files.hpp"
#include "server/api/files/services.hpp"
#include "storage/pending_uploads.hpp"

namespace restante {

namespace {

constexpr int default_limit = 100;
constexpr int max_limit = 500;

void append_file(std::string& out, const staged_file& file)
{
    out += "{\"file_id\":";
    append_json(out, file.file_id);
    out += ",\"uri\":";
    append_json(out, pending_uri(file.workspace_id, file.file_id));
    out += ",\"name\":";
    append_json(out, file.filename);
    out += ",\"mimeType\":";
    append_json(out, file.mimetype);
    out += ",\"size\":";
    append_json(out, file.size);
    out += ",\"sha256\":";
    append_json(out, to_hex(file.sha256));
    out += ",\"created_at\":";
    append_json(out, file.created_at);
    out += ",\"fetched_at\":";
    append_json(out, file.fetched_at);
    out += ",\"expires_at\":";
    append_json(out, file.expires_at);
    out += '}';
}

}  // namespace

awaitable<response> handle_pending_list(request_context& req, files_services& svc)
{
    query_reader query(req.query());
    const int limit = query.limit(default_limit, max_limit);
    const auto after = query.value("after", "a file_id", parse_uuid);
    if (query.refused())
        co_return req.fail(*query.refused());
    const auto files = co_await svc.uploads.list(req.workspace_id(), limit, after);
    if (!files)
        co_return req.fail(files.error());
    std::string text = "[";
    for (const auto& file : *files) {
        if (text.size() > 1)
            text += ',';
        append_file(text, file);
    }
    text += ']';
    co_return req.list(std::move(text));
}

}  // namespace restante
