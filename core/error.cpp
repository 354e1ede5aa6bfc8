#include "core/error.hpp"

#include <string>

namespace restante {

namespace {

const char* describe(errc e)
{
    switch (e) {
        case errc::bad_request: return "bad request";
        case errc::invalid_workspace_id: return "invalid workspace id";
        case errc::invalid_file_id: return "invalid file id";
        case errc::no_such_route: return "no such route";
        case errc::not_found: return "not found";
        case errc::workspace_not_found: return "workspace not found";
        case errc::workspace_removed: return "workspace was removed";
        case errc::method_not_allowed: return "method not allowed";
        case errc::method_not_implemented: return "method not implemented";
        case errc::transfer_coding_not_implemented: return "transfer coding not implemented";
        case errc::http_version_not_supported: return "HTTP version not supported";
        case errc::uri_too_long: return "request target too long";
        case errc::headers_too_large: return "header block too large";
        case errc::expectation_failed: return "expectation failed";
        case errc::upgrade_required: return "not a WebSocket handshake";
        case errc::host_not_allowed: return "Host not served";
        case errc::cross_site: return "request of another site";
        case errc::missing_token: return "missing token";
        case errc::invalid_token: return "invalid token";
        case errc::too_many_failed_logins: return "too many wrong tokens";
        case errc::missing_admin_token: return "missing admin token";
        case errc::invalid_admin_token: return "invalid admin token";
        case errc::forbidden: return "forbidden";
        case errc::insufficient_scope: return "scope of the token too small";
        case errc::peer_not_allowed: return "workspaces may not talk to each other";
        case errc::grant_exhausted: return "upload grant used up";
        case errc::grant_not_found: return "no such upload grant";
        case errc::receipt_not_found: return "no such receipt";
        case errc::too_many_tokens: return "too many live tokens";
        case errc::confirmation_required: return "confirmation required";
        case errc::unsupported_media_type: return "unsupported media type";
        case errc::malformed_multipart: return "malformed multipart body";
        case errc::no_files: return "no files in the form";
        case errc::too_many_files: return "too many files";
        case errc::file_too_large: return "file exceeds the cap";
        case errc::request_too_large: return "request exceeds the cap";
        case errc::empty_file: return "empty file";
        case errc::message_too_large: return "message exceeds the cap";
        case errc::quota_exceeded: return "quota of the workspace exceeded";
        case errc::digest_mismatch: return "digest mismatch";
        case errc::malformed_json: return "malformed JSON";
        case errc::request_timeout: return "client too slow";
        case errc::no_callback_url: return "workspace has no callback URL";
        case errc::callback_url_missing: return "push workspace without a URL";
        case errc::callback_url_not_allowed: return "callback URL not allowed";
        case errc::workspace_unreachable: return "workspace unreachable";
        case errc::workspace_reregistering: return "workspace has to register again";
        case errc::idempotency_key_reused: return "idempotency key reused with other files";
        case errc::idempotency_key_running: return "a request with this idempotency key is running";
        case errc::idempotent_files_gone: return "the files of this idempotency key have expired";
        case errc::cursor_gone: return "unknown cursor";
        case errc::range_not_satisfiable: return "range not satisfiable";
        case errc::too_large: return "file too large for storage";
        case errc::invalid_file: return "invalid file";
        case errc::could_not_stage: return "file row not written";
        case errc::content_lost: return "stored bytes missing or wrong";
        case errc::content_store_unavailable: return "content store unavailable";
        case errc::could_not_log: return "activity row not written";
        case errc::commit_outcome_unknown: return "commit outcome unknown";
        case errc::transaction_aborted: return "transaction aborted";
        case errc::serialization_failure: return "serialization failure";
        case errc::unique_violation: return "unique constraint violated";
        case errc::check_violation: return "constraint violated";
        case errc::schema_missing: return "table or column missing";
        case errc::wrong_column_type: return "column has another type";
        case errc::unexpected_null: return "column is NULL";
        case errc::sql_error: return "statement failed";
        case errc::database_unavailable: return "database unavailable";
        case errc::database_busy: return "no free database connection";
        case errc::database_timeout: return "database too slow";
        case errc::database_unsafe: return "database settings are unsafe";
        case errc::no_room: return "no room";
        case errc::shutting_down: return "shutting down";
        case errc::client_gone: return "client gone";
        case errc::internal_error: return "internal error";
        case errc::bad_setting: return "bad setting";
        case errc::bad_certificate: return "bad certificate or key";
        case errc::io_error: return "file operation failed";
        case errc::migration_failed: return "migration failed";
        case errc::private_postgres_failed: return "private PostgreSQL failed";
    }
    return "unknown error";
}

class category final : public boost::system::error_category {
public:
    const char* name() const noexcept override { return "restante"; }
    std::string message(int value) const override { return describe(static_cast<errc>(value)); }
};

}  // namespace

const boost::system::error_category& restante_category() noexcept
{
    static const category instance;
    return instance;
}

error_code make_error_code(errc e) noexcept
{
    return {static_cast<int>(e), restante_category()};
}

}  // namespace restante
