#include "storage/pq/copy.hpp"

#include <boost/endian/conversion.hpp>
#include <libpq-fe.h>

namespace restante::pq {

awaitable<result<copy_in>> copy_in::begin(connection& on, const std::string& sql)
{
    on.busy_ = true;
    if (on.broken_ || !PQsendQuery(on.handle_, sql.c_str()))
        co_return on.break_down(errc::database_unavailable);
    if (auto ec = co_await on.flush())
        co_return ec;
    error_code failure;
    for (;;) {
        auto got = co_await on.get_result();
        if (!got)
            co_return got.error();
        if (!*got)
            break;
        const bool started = PQresultStatus(*got) == PGRES_COPY_IN;
        auto accepted = on.accept(*got, "copy");
        if (started)
            co_return copy_in(on);
        if (!accepted)
            failure = accepted.error();
        if (on.broken_)
            co_return failure;
    }
    on.busy_ = false;
    if (failure)
        co_return failure;
    co_return RESTANTE_ERROR(errc::sql_error);
}

awaitable<error_code> copy_in::write(std::span<const char> piece)
{
    for (;;) {
        const int taken = PQputCopyData(on_->handle_, piece.data(), static_cast<int>(piece.size()));
        if (taken < 0)
            co_return on_->break_down(errc::database_unavailable);
        if (auto ec = co_await on_->flush())
            co_return ec;
        if (taken == 1)
            co_return error_code{};
    }
}

awaitable<error_code> copy_in::finish()
{
    co_return co_await end(nullptr);
}

awaitable<error_code> copy_in::abort(const char* reason)
{
    co_return co_await end(reason);
}

awaitable<error_code> copy_in::end(const char* reason)
{
    for (;;) {
        const int taken = PQputCopyEnd(on_->handle_, reason);
        if (taken < 0)
            co_return on_->break_down(errc::database_unavailable);
        if (auto ec = co_await on_->flush())
            co_return ec;
        if (taken == 1)
            break;
    }
    error_code failure;
    for (;;) {
        auto got = co_await on_->get_result();
        if (!got)
            co_return got.error();
        if (!*got)
            break;
        const auto accepted = on_->accept(*got, "copy");
        if (!accepted)
            failure = accepted.error();
        if (on_->broken_)
            co_return failure;
    }
    on_->busy_ = false;
    co_return failure;
}

namespace {

template <class Int>
void append(std::string& out, Int value)
{
    const Int big = boost::endian::native_to_big(value);
    out.append(reinterpret_cast<const char*>(&big), sizeof big);
}

}  // namespace

void copy_encoder::header(std::string& out)
{
    out.append("PGCOPY\n\377\r\n\0", 11);
    append(out, std::int32_t{0});  // flags
    append(out, std::int32_t{0});  // length of the header extension
}

void copy_encoder::trailer(std::string& out)
{
    append(out, std::int16_t{-1});
}

void copy_encoder::row(std::string& out, std::int16_t fields)
{
    append(out, fields);
}

void copy_encoder::null(std::string& out)
{
    append(out, std::int32_t{-1});
}

void copy_encoder::add(std::string& out, const uuid& value)
{
    append(out, std::int32_t{16});
    out.append(reinterpret_cast<const char*>(value.data), 16);
}

void copy_encoder::add(std::string& out, std::int64_t value)
{
    append(out, std::int32_t{8});
    append(out, value);
}

void copy_encoder::add(std::string& out, timestamp value)
{
    add(out, static_cast<std::int64_t>((value - epoch).count()));
}

void copy_encoder::add(std::string& out, std::string_view text)
{
    append(out, static_cast<std::int32_t>(text.size()));
    out.append(text);
}

void copy_encoder::length(std::string& out, std::int32_t bytes)
{
    append(out, bytes);
}

}  // namespace restante::pq
