#include "server/api/uploads/upload_answer.hpp"

#include "core/encoding.hpp"
#include "core/json_text.hpp"
#include "server/api/common/pending_uri.hpp"

namespace restante {

namespace {

// No text of ours or of a client can contain this byte in JSON: control characters are escaped there.
constexpr char gap = '\x01';

void append_file(std::string& out, const uuid& workspace, const new_file& file)
{
    out += "\"name\":";
    append_json(out, file.filename);
    out += ",\"mimeType\":";
    append_json(out, file.mimetype);
    out += ",\"size\":";
    append_json(out, static_cast<std::int64_t>(file.content->size()));
    out += ",\"uri\":";
    append_json(out, pending_uri(workspace, file.file_id));
    out += ",\"file_id\":";
    append_json(out, file.file_id);
    out += ",\"sha256\":";
    append_json(out, to_hex(file.sha256));
    out += ",\"original_name\":";
    append_json(out, file.original_name);
}

}  // namespace

std::string upload_manifest(const uuid& workspace, const new_file& file)
{
    std::string out = "{";
    append_file(out, workspace, file);
    out += '}';
    return out;
}

std::string upload_answer_template(const uuid& workspace, std::span<const new_file> files)
{
    std::string out = "{\"files\":[";
    for (const auto& file : files) {
        out += out.ends_with('[') ? "{" : ",{";
        append_file(out, workspace, file);
        out += ",\"expires_at\":\"";
        out += gap;
        out += "\"}";
    }
    out += "]}";
    return out;
}

std::string fill_in_expiry(std::string_view with_gaps, timestamp expires_at)
{
    const std::string moment = rfc3339(expires_at);
    std::string out;
    out.reserve(with_gaps.size() + moment.size());
    for (auto at = with_gaps.find(gap); at != std::string_view::npos; at = with_gaps.find(gap)) {
        out += with_gaps.substr(0, at);
        out += moment;
        with_gaps.remove_prefix(at + 1);
    }
    out += with_gaps;
    return out;
}

}  // namespace restante
