#include "http/message/public_errors.hpp"

#include "core/utf8.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>

namespace restante {

namespace {

constexpr public_error plain(unsigned status, std::string_view code, std::string_view sentence)
{
    return {status, code, sentence, std::nullopt, false};
}

constexpr public_error later(unsigned status, std::string_view code, std::string_view sentence, int seconds)
{
    return {status, code, sentence, seconds, false};
}

constexpr public_error challenge(std::string_view code, std::string_view sentence)
{
    return {401, code, sentence, std::nullopt, true};
}

// The log says which table is missing or which setting is wrong; a client can only retry.
constexpr public_error unavailable =
    later(503, "platform_unavailable", "the platform is unavailable, try again", 2);
constexpr public_error internal = plain(500, "internal_error", "internal error");

}  // namespace

// No default: the compiler refuses an errc without a row.
public_error public_error_of(errc e) noexcept
{
    switch (e) {
        case errc::bad_request: return plain(400, "bad_request", "bad request");
        case errc::invalid_workspace_id: return plain(400, "invalid_workspace_id", "invalid workspace ID");
        case errc::invalid_file_id: return plain(400, "invalid_file_id", "invalid file_id");
        case errc::no_such_route: return plain(404, "no_such_route", "no such path");
        case errc::not_found:
            return plain(404, "not_found", "pending upload not found, expired, or already acked");
        case errc::workspace_not_found: return plain(404, "workspace_not_found", "workspace not found");
        case errc::workspace_removed:
            return plain(410, "workspace_removed", "workspace was removed and cannot come back");
        case errc::method_not_allowed: return plain(405, "method_not_allowed", "method not allowed");
        case errc::method_not_implemented:
            return plain(501, "method_not_implemented", "method not implemented");
        case errc::transfer_coding_not_implemented:
            return plain(501, "transfer_coding_not_implemented", "transfer coding not implemented");
        case errc::http_version_not_supported:
            return plain(505, "http_version_not_supported", "HTTP version not supported");
        case errc::uri_too_long: return plain(414, "uri_too_long", "request target too long");
        case errc::headers_too_large: return plain(431, "headers_too_large", "header block too large");
        case errc::expectation_failed: return plain(417, "expectation_failed", "expectation failed");
        case errc::upgrade_required:
            return plain(426, "upgrade_required", "this path speaks WebSocket, version 13");
        case errc::host_not_allowed:
            return plain(421, "host_not_allowed", "this server does not serve that Host");
        case errc::cross_site:
            return plain(403, "cross_site", "a page of another site may not do this without a token");
        case errc::missing_token: return challenge("missing_token", "missing workspace auth token");
        case errc::invalid_token: return challenge("invalid_token", "invalid workspace auth token");
        case errc::too_many_failed_logins:
            return later(429, "too_many_failed_logins", "too many wrong tokens from this address", 10);
        case errc::missing_admin_token: return challenge("missing_admin_token", "admin auth required");
        case errc::invalid_admin_token: return challenge("invalid_admin_token", "invalid admin auth token");
        case errc::forbidden: return plain(403, "forbidden", "forbidden");
        case errc::insufficient_scope:
            return plain(403, "insufficient_scope", "the scope of this token does not include this");
        case errc::peer_not_allowed:
            return plain(403, "peer_not_allowed",
                         "access denied: workspaces cannot talk to each other on this server");
        case errc::grant_exhausted:
            return plain(403, "grant_exhausted", "this upload grant does not allow that much more");
        case errc::grant_not_found: return plain(404, "grant_not_found", "upload grant not found");
        case errc::receipt_not_found: return plain(404, "receipt_not_found", "upload not found");
        case errc::too_many_tokens:
            return later(429, "too_many_tokens", "too many live tokens; revoke some first", 60);
        case errc::confirmation_required:
            return plain(400, "confirmation_required", "destructive_action_requires_confirmation");
        case errc::unsupported_media_type:
            return plain(415, "unsupported_media_type", "unsupported media type");
        case errc::malformed_multipart: return plain(400, "malformed_multipart", "malformed multipart body");
        case errc::no_files: return plain(400, "no_files", "no files field in request");
        case errc::too_many_files: return plain(400, "too_many_files", "too many files");
        case errc::file_too_large:
        case errc::too_large: return plain(413, "file_too_large", "file exceeds per-file cap");
        case errc::request_too_large: return plain(413, "request_too_large", "request exceeds total cap");
        case errc::empty_file: return plain(400, "empty_file", "empty file");
        case errc::message_too_large: return plain(413, "message_too_large", "message exceeds the cap");
        case errc::quota_exceeded:
            return plain(507, "quota_exceeded", "too much is waiting for this workspace already");
        case errc::digest_mismatch:
            return plain(409, "digest_mismatch",
                         "these are not the bytes that are stored; nothing was acked");
        case errc::invalid_file: return plain(400, "invalid_file", "invalid file");
        case errc::malformed_json: return plain(400, "malformed_json", "malformed JSON body");
        case errc::request_timeout: return plain(408, "request_timeout", "request came too slowly");
        case errc::no_callback_url: return plain(422, "no_callback_url", "workspace has no callback URL");
        case errc::callback_url_missing:
            return later(503, "callback_url_missing", "workspace url not registered yet", 30);
        case errc::callback_url_not_allowed:
            return plain(400, "callback_url_not_allowed", "workspace URL not allowed");
        case errc::workspace_unreachable: return plain(502, "workspace_unreachable", "workspace unreachable");
        case errc::workspace_reregistering:
            return later(503, "workspace_reregistering",
                         "workspace re-registering — please retry in 30 seconds", 30);
        case errc::idempotency_key_reused:
            return plain(422, "idempotency_key_reused", "idempotency key was used with other files");
        case errc::idempotency_key_running:
            return later(409, "idempotency_key_running", "a request with this idempotency key is running", 1);
        case errc::idempotent_files_gone:
            return plain(410, "idempotent_files_gone",
                         "the files of this idempotency key have expired; send them with a new key");
        case errc::cursor_gone:
            return plain(410, "cursor_gone", "since_id is unknown here; omit since_id to start again");
        case errc::range_not_satisfiable: return plain(416, "range_not_satisfiable", "range not satisfiable");

        case errc::could_not_stage: return plain(500, "could_not_stage", "could not stage files");
        case errc::content_lost: return plain(500, "content_lost", "the stored bytes are missing or damaged");
        case errc::content_store_unavailable:
            return later(503, "content_store_unavailable", "the content store is unavailable, try again", 2);
        case errc::could_not_log: return plain(500, "could_not_log", "could not log upload activity");

        case errc::database_unavailable:
        case errc::database_busy:
        case errc::database_timeout:
        case errc::database_unsafe:
        case errc::serialization_failure:
        case errc::schema_missing:
        case errc::commit_outcome_unknown: return unavailable;
        case errc::no_room: return later(503, "no_room", "no room for this request now, try again", 5);
        case errc::shutting_down:
            return later(503, "shutting_down", "the server is shutting down, try again", 1);

        // No client reads it; the status is for the access log and the metrics.
        case errc::client_gone: return plain(499, "client_gone", "client closed the connection");

        case errc::transaction_aborted:
        case errc::unique_violation:
        case errc::check_violation:
        case errc::wrong_column_type:
        case errc::unexpected_null:
        case errc::sql_error:
        case errc::internal_error:
        case errc::bad_setting:
        case errc::bad_certificate:
        case errc::io_error:
        case errc::migration_failed:
        case errc::private_postgres_failed: return internal;
    }
    return internal;
}

errc to_errc(const error_code& ec) noexcept
{
    return ec.category() == restante_category() ? static_cast<errc>(ec.value()) : errc::internal_error;
}

std::string error_body(const refusal& why)
{
    const auto error = public_error_of(why.code);
    boost::json::object body;
    body["error"] = why.sentence ? as_utf8(*why.sentence) : std::string(error.sentence);
    body["code"] = error.code;
    // The one failure after which something may have changed.
    if (why.code == errc::commit_outcome_unknown)
        body["stored"] = "unknown";
    for (const auto& field : why.fields) {
        if (const auto* text = field.value().if_string())
            body[field.key()] = as_utf8(*text);
        else
            body[field.key()] = field.value();
    }
    return boost::json::serialize(body);
}

}  // namespace restante
