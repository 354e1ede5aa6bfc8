#include "storage/pq/connection.hpp"

#include "core/log.hpp"
#include "core/worker_pool.hpp"
#include "storage/pq/address_race.hpp"
#include "storage/pq/pipeline.hpp"
#include "storage/pq/session_check.hpp"
#include "storage/pq/sqlstate.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <libpq-fe.h>

#include <algorithm>
#include <sys/socket.h>

namespace restante::pq {

namespace {

std::string first_line(std::string_view text)
{
    return std::string(text.substr(0, text.find('\n')));
}

std::string result_field(const pg_result* from, int which)
{
    const char* text = PQresultErrorField(from, which);
    return text ? text : "";
}

void move_to_front(std::vector<server_address>& all, const server_address& preferred)
{
    const auto found = std::find(all.begin(), all.end(), preferred);
    if (found != all.end())
        std::rotate(all.begin(), found, found + 1);
}

}  // namespace

connection::connection(executor ex, connect_options options)
    : ex_(ex), options_(std::move(options)), socket_(ex), deadline_(ex, [this] { socket_.cancel(); })
{
}

connection::~connection()
{
    // Asio must release the descriptor before libpq closes it, or the number may already have been reused.
    if (socket_.is_open())
        socket_.release();
    PQfinish(handle_);
}

awaitable<result<std::unique_ptr<connection>>> connection::open(connect_options options, std::string* why)
{
    std::string ignored;
    std::string& reason = why ? *why : ignored;
    reason.clear();
    auto info = conninfo::parse(options.conninfo, reason);
    if (!info)
        co_return info.error();
    info->set_default("application_name", options.application_name);
    info->set_default("client_encoding", "UTF8");
    info->set_default("tcp_user_timeout", "10000");
    info->set_default("keepalives_idle", "5");
    info->set_default("keepalives_interval", "5");
    info->set_default("keepalives_count", "3");

    auto addresses = co_await info->resolve(options.connect_timeout);
    if (addresses.empty()) {
        reason = "the host name of the database cannot be resolved";
        co_return RESTANTE_ERROR(errc::database_unavailable);
    }
    move_to_front(addresses, options.try_first);
    if (addresses.size() == 1)
        co_return co_await open_at(addresses.front(), std::move(*info), std::move(options), reason);
    address_race race(co_await asio::this_coro::executor, std::move(*info), std::move(options));
    co_return co_await race.run(std::move(addresses), reason);
}

awaitable<result<std::unique_ptr<connection>>> connection::open_at(server_address where, conninfo info,
                                                                   connect_options options, std::string& why)
{
    const executor ex = co_await asio::this_coro::executor;
    const auto io_timeout = options.io_timeout;
    const auto connect_timeout = options.connect_timeout;
    std::unique_ptr<connection> opened(new connection(ex, std::move(options)));
    opened->address_ = where;
    if (const auto* given = info.find("options"))
        opened->operator_options_ = *given;
    info.select(where);
    opened->handle_ = PQconnectStartParams(info.keywords(), info.values(), 0);
    if (opened->handle_)
        PQsetNoticeReceiver(opened->handle_, receive_notice, opened.get());
    error_code ec = co_await opened->handshake();
    if (ec) {
        why =
            ec == errc::database_timeout ? "no answer in time" : first_line(PQerrorMessage(opened->handle_));
        co_return ec;
    }
    opened->io_timeout(connect_timeout);
    ec = co_await begin_session(*opened, why);
    if (ec) {
        if (ec == errc::database_timeout)
            why = "no answer in time";
        co_return ec;
    }
    opened->io_timeout(io_timeout);
    co_return opened;
}

void connection::begun(int backend_pid, session_verdict verdict)
{
    backend_pid_ = backend_pid;
    verdict_ = std::move(verdict);
}

bool connection::through_a_pooler() const
{
    return backend_pid_ != PQbackendPID(handle_);
}

// PQconnectPoll may open another socket (without TLS after TLS was refused), so the descriptor is read again
// after every step.
awaitable<error_code> connection::handshake()
{
    const auto give_up_at = deadline::clock::now() + options_.connect_timeout;
    if (!handle_ || PQstatus(handle_) == CONNECTION_BAD)
        co_return break_down(errc::database_unavailable);
    PostgresPollingStatusType step = PGRES_POLLING_WRITING;
    while (step != PGRES_POLLING_OK) {
        if (step == PGRES_POLLING_FAILED)
            co_return break_down(errc::database_unavailable);
        watch_socket();
        const auto wait_for = step == PGRES_POLLING_READING ? asio::posix::descriptor_base::wait_read
                                                            : asio::posix::descriptor_base::wait_write;
        deadline_.expires_at(give_up_at);
        auto [ec] = co_await socket_.async_wait(wait_for, use_tuple);
        if (ec)
            co_return break_down(errc::database_timeout);
        socket_.release();
        step = PQconnectPoll(handle_);
    }
    deadline_.clear();
    watch_socket();
    if (PQsetnonblocking(handle_, 1) != 0)
        co_return break_down(errc::database_unavailable);
    co_return error_code{};
}

void connection::watch_socket()
{
    if (!socket_.is_open())
        socket_.assign(PQsocket(handle_));
}

error_code connection::break_down(errc reason)
{
    broken_ = true;
    fell_silent_ = reason == errc::database_timeout;
    deadline_.clear();
    // libpq closes the socket by itself when the server hangs up, and the next connection may get the same
    // descriptor. Asio must release it now: a release in the destructor would deregister the other
    // connection.
    if (socket_.is_open())
        socket_.release();
    return RESTANTE_ERROR(reason);
}

void connection::start_wait()
{
    deadline_.expires_at(std::min(deadline::clock::now() + options_.io_timeout, finish_by_));
}

awaitable<error_code> connection::wait_until(asio::posix::descriptor_base::wait_type what)
{
    start_wait();
    auto [ec] = co_await socket_.async_wait(what, use_tuple);
    if (ec)
        co_return break_down(errc::database_timeout);
    co_return error_code{};
}

// While we wait to write, the server may itself be waiting for us to read.
awaitable<error_code> connection::wait_either()
{
    using namespace asio::experimental::awaitable_operators;
    using asio::posix::descriptor_base;
    start_wait();
    auto readable = socket_.async_wait(descriptor_base::wait_read, use_tuple);
    auto writable = socket_.async_wait(descriptor_base::wait_write, use_tuple);
    auto first = co_await (std::move(readable) || std::move(writable));
    const auto ec = std::visit([](const auto& outcome) { return std::get<0>(outcome); }, first);
    if (ec)
        co_return break_down(errc::database_timeout);
    co_return error_code{};
}

awaitable<error_code> connection::flush()
{
    for (;;) {
        const int pending = PQflush(handle_);
        if (pending == 0)
            co_return error_code{};
        if (pending < 0)
            co_return break_down(errc::database_unavailable);
        if (auto ec = co_await wait_either())
            co_return ec;
        if (!PQconsumeInput(handle_))
            co_return break_down(errc::database_unavailable);
    }
}

awaitable<result<pg_result*>> connection::get_result()
{
    while (PQisBusy(handle_)) {
        if (auto ec = co_await wait_until(asio::posix::descriptor_base::wait_read))
            co_return ec;
        if (!PQconsumeInput(handle_)) {
            last_message_ = first_line(PQerrorMessage(handle_));
            co_return break_down(errc::database_unavailable);
        }
    }
    deadline_.clear();
    co_return PQgetResult(handle_);
}

void connection::note_failure(const pg_result* failed, const char* name)
{
    last_sqlstate_ = result_field(failed, PG_DIAG_SQLSTATE);
    lock_timeout_ = lock_timeout_ || last_sqlstate_ == "55P03";
    became_read_only_ = became_read_only_ || last_sqlstate_ == "25006";
    last_message_ = result_field(failed, PG_DIAG_MESSAGE_PRIMARY);
    if (last_message_.empty())
        last_message_ = first_line(PQresultErrorMessage(failed));
    log_line(log_level::debug, "statement_failed")
        .field("statement", name)
        .field("sqlstate", last_sqlstate_)
        .field("message", last_message_);
}

// libpq would print notices, and the termination message of an idle session, to stderr, which is reserved for
// our log lines.
//
// A commit whose wait for synchronous replication is cancelled (pg_cancel_backend, statement_timeout)
// succeeds with a warning. The name of the function that warns does not depend on the language of the
// messages.
void connection::receive_notice(void* self, const pg_result* notice)
{
    const bool cancelled = result_field(notice, PG_DIAG_SOURCE_FUNCTION) == "SyncRepWaitForLSN";
    if (cancelled)
        static_cast<connection*>(self)->standby_wait_cancelled_ = true;
    log_line(cancelled ? log_level::warn : log_level::debug,
             cancelled ? "standby_wait_cancelled" : "postgres_notice")
        .field("message", result_field(notice, PG_DIAG_MESSAGE_PRIMARY));
}

void connection::note_size(std::size_t bytes)
{
    largest_ = std::max(largest_, bytes);
    if (bytes > largest_kept)
        last_large_ = std::chrono::steady_clock::now();
}

result<result_set> connection::accept(pg_result* owned, const char* name)
{
    result_set results(owned);
    switch (PQresultStatus(owned)) {
        case PGRES_COMMAND_OK:
        case PGRES_TUPLES_OK:
        case PGRES_PIPELINE_SYNC:
        case PGRES_COPY_IN: note_size(results.memory()); return results;
        case PGRES_PIPELINE_ABORTED: return RESTANTE_ERROR(errc::transaction_aborted);
        default: break;
    }
    note_failure(owned, name);
    // Without a SQLSTATE the failure is libpq's own: the connection is lost.
    if (last_sqlstate_.empty() || PQstatus(handle_) != CONNECTION_OK)
        return break_down(errc::database_unavailable);
    return RESTANTE_ERROR(errc_from_sqlstate(last_sqlstate_));
}

awaitable<result<result_set>> connection::execute(const statement& what, const parameters& with)
{
    pipeline one(*this);
    one.add(what, with);
    auto results = co_await one.run();
    if (!results)
        co_return results.error();
    co_return std::move(results->front());
}

awaitable<result<result_set>> connection::execute(const statement& what)
{
    parameters none;
    co_return co_await execute(what, none);
}

awaitable<result<result_set>> connection::execute_script(const std::string& sql)
{
    busy_ = true;
    standby_wait_cancelled_ = false;
    if (!PQsendQuery(handle_, sql.c_str()))
        co_return break_down(errc::database_unavailable);
    if (auto ec = co_await flush())
        co_return ec;
    result<result_set> outcome = RESTANTE_ERROR(errc::sql_error);
    for (;;) {
        auto got = co_await get_result();
        if (!got)
            co_return got.error();
        if (!*got)
            break;
        outcome = accept(*got, "script");
        if (broken_)
            co_return outcome;
    }
    busy_ = false;
    if (outcome && standby_wait_cancelled_)
        co_return RESTANTE_ERROR(errc::commit_outcome_unknown);
    co_return outcome;
}

awaitable<result<notification>> connection::next_notification()
{
    for (;;) {
        if (PGnotify* received = PQnotifies(handle_)) {
            notification out{received->relname, received->extra, received->be_pid};
            PQfreemem(received);
            co_return out;
        }
        auto [ec] = co_await socket_.async_wait(asio::posix::descriptor_base::wait_read, use_tuple);
        if (ec)
            co_return ec;
        if (!PQconsumeInput(handle_))
            co_return break_down(errc::database_unavailable);
    }
}

awaitable<void> connection::cancel()
{
    // libpq 15 has only a blocking form of this.
    std::shared_ptr<PGcancel> request(PQgetCancel(handle_), PQfreeCancel);
    auto send = [request] {
        char message[256];
        return PQcancel(request.get(), message, sizeof message);
    };
    co_await shared_workers().run(send);
}

bool connection::in_transaction() const
{
    return PQtransactionStatus(handle_) != PQTRANS_IDLE;
}

bool connection::closed_by_server() const
{
    char byte;
    const auto got = ::recv(PQsocket(handle_), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    // Anything to read on an idle session is the server's termination message.
    return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

}  // namespace restante::pq
