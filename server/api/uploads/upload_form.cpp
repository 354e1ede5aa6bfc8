#include "server/api/uploads/upload_form.hpp"

#include "core/file_names.hpp"
#include "server/api/common/caller.hpp"
#include "server/api/common/idempotency.hpp"
#include "server/api/uploads/upload_answer.hpp"

namespace restante {

namespace {

// Over everything that makes two requests "the same files": names, types and contents, in order.
digest32 fingerprint_of(std::span<const form_file> files)
{
    sha256 hash;
    const auto add = [&hash](std::string_view text) {
        hash.update(std::to_string(text.size()) + ':');
        hash.update(text);
    };
    for (const auto& file : files) {
        add(file.raw_name);
        add(file.raw_type);
        const auto& digest = file.content->digest();
        add({reinterpret_cast<const char*>(digest.data()), digest.size()});
    }
    return hash.finish();
}

new_file to_new_file(const form_file& file)
{
    new_file out;
    out.filename = sanitize_filename(file.raw_name);
    out.original_name = original_name(file.raw_name);
    out.mimetype = normalize_mimetype(file.raw_type);
    out.sha256 = file.content->digest();
    out.content = file.content;
    return out;
}

std::shared_ptr<feed_entry> activity_about(const uuid& workspace, const new_file& file)
{
    auto row = std::make_shared<feed_entry>();
    row->what.id = file.activity_id;
    row->what.workspace_id = workspace;
    row->what.activity_type = "a2a_receive";
    row->what.target_id = workspace;
    row->what.method = "chat_upload_receive";
    row->what.summary = "chat_upload_receive: " + file.filename;
    row->what.request_body = upload_manifest(workspace, file);
    return row;
}

}  // namespace

answerable<upload_head> check_upload_head(request_context& req, const form_limits& limits)
{
    if (!req.header(http::field::content_encoding).empty())
        return refusal(errc::unsupported_media_type, "Content-Encoding is not supported for uploads");
    auto separator = multipart::boundary::from_content_type(req.header(http::field::content_type));
    if (!separator)
        return refusal(separator.error());
    auto key = read_idempotency_key(req);
    if (!key)
        return key.error();
    if (req.body().announced_too_large())
        return refusal(errc::request_too_large, {{"max", limits.request_bytes}});
    upload_grant grant(caller_of(req).grant, key->has_value());
    if (auto refused = grant.refuse_head(req.body().announced()))
        return std::move(*refused);
    return upload_head{std::move(*separator), std::move(*key), std::move(grant)};
}

upload make_upload(const uuid& workspace, const std::optional<used_token>& token,
                   std::vector<form_file> files, std::optional<std::string> key)
{
    upload load{.workspace = workspace, .token = token};
    for (const auto& file : files) {
        load.files.push_back(to_new_file(file));
        if (token)
            load.files.back().staged_by = token->id;
        load.activities.push_back(activity_about(workspace, load.files.back()));
    }
    load.answer = std::make_shared<const std::string>(upload_answer_template(workspace, load.files));
    if (key)
        load.keys.push_back(request_key::of_client(std::move(*key), fingerprint_of(files)));
    return load;
}

}  // namespace restante
