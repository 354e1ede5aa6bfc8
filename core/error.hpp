#pragma once

#include <boost/assert/source_location.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>

namespace restante {

// Every failure that the program foresees. The public form of each is defined in
// http/message/public_errors.cpp and nowhere else.
enum class errc {
    // caller errors
    bad_request = 1,
    invalid_workspace_id,
    invalid_file_id,
    no_such_route,
    not_found,  // a staged file that is absent, acked, expired or another workspace's
    workspace_not_found,
    workspace_removed,
    method_not_allowed,
    method_not_implemented,
    transfer_coding_not_implemented,
    http_version_not_supported,
    uri_too_long,
    headers_too_large,
    expectation_failed,
    upgrade_required,
    host_not_allowed,  // a Host that a loopback listener does not serve
    cross_site,        // a page of another site, on a route that needs no token
    missing_token,
    invalid_token,
    too_many_failed_logins,
    missing_admin_token,
    invalid_admin_token,
    forbidden,
    insufficient_scope,  // the token is valid and may not do this
    peer_not_allowed,    // another workspace's token, where workspaces may not talk to each other
    grant_exhausted,     // an upload grant with nothing left of it
    grant_not_found,
    receipt_not_found,
    too_many_tokens,
    confirmation_required,
    unsupported_media_type,
    malformed_multipart,
    no_files,
    too_many_files,
    file_too_large,
    request_too_large,
    empty_file,
    message_too_large,
    quota_exceeded,   // the files that wait for one workspace
    digest_mismatch,  // an ack for other bytes than those that are stored
    malformed_json,
    request_timeout,
    no_callback_url,
    callback_url_missing,      // mode push without a url
    callback_url_not_allowed,  // a url that points where we must not connect
    workspace_unreachable,     // the callback did not answer, or answered nonsense
    workspace_reregistering,   // its inbound secret was just made
    idempotency_key_reused,
    idempotency_key_running,
    idempotent_files_gone,  // a key used again after its files have expired
    cursor_gone,
    range_not_satisfiable,

    // storage errors
    too_large,  // a file above the cap reached the storage call
    invalid_file,
    could_not_stage,
    content_lost,               // a row whose bytes are missing or are not those that were stored
    content_store_unavailable,  // the place of large files, not the database
    could_not_log,
    commit_outcome_unknown,
    transaction_aborted,
    serialization_failure,  // worth another try
    unique_violation,
    check_violation,
    schema_missing,
    wrong_column_type,
    unexpected_null,
    sql_error,

    // unavailable, overloaded or shutting down
    database_unavailable,
    database_busy,
    database_timeout,
    database_unsafe,  // read-only, not UTF8, or with settings that lose commits
    no_room,          // memory, spool or connections are used up
    shutting_down,
    client_gone,

    // the machine and its files
    internal_error,
    bad_setting,
    bad_certificate,
    io_error,
    migration_failed,
    private_postgres_failed,
};

using error_code = boost::system::error_code;

template <class T>
using result = boost::system::result<T>;

const boost::system::error_category& restante_category() noexcept;

error_code make_error_code(errc e) noexcept;

}  // namespace restante

template <>
struct boost::system::is_error_code_enum<restante::errc> : std::true_type {};

// An error that carries the source location where it was created, for its single log line.
#define RESTANTE_ERROR(e)                                                             \
    ::restante::error_code(static_cast<int>(e), ::restante::restante_category(), [] { \
        static constexpr auto place = BOOST_CURRENT_LOCATION;                         \
        return &place;                                                                \
    }())
