#include "storage/pq/session_check.hpp"

namespace restante::pq {

namespace {

const statement read_safety{"read_safety",
                            "SELECT pg_is_in_recovery(), current_setting('transaction_read_only'), "
                            "current_setting('server_encoding'), current_setting('fsync'), "
                            "current_setting('full_page_writes'), current_setting('synchronous_commit')"};

std::string find_fault(bool standby, std::string_view read_only, std::string_view encoding,
                       std::string_view fsync, std::string_view full_pages, std::string_view synchronous)
{
    if (standby)
        return "the database is a standby: it takes no writes";
    if (read_only != "off")
        return "the database is read-only";
    if (encoding != "UTF8")
        return "the database's encoding is not UTF8";
    if (fsync != "on")
        return "fsync is off: a crash would lose confirmed uploads";
    if (full_pages != "on")
        return "full_page_writes is off: a crash could corrupt confirmed uploads";
    if (synchronous == "off")
        return "synchronous_commit is off: a crash would lose confirmed uploads";
    return {};
}

}  // namespace

awaitable<error_code> check_session(connection& session, std::string& why)
{
    auto answer = co_await session.execute(read_safety);
    if (!answer)
        co_return answer.error();
    using view = std::string_view;
    auto values = (*answer)[0].as<bool, view, view, view, view, view>();
    if (!values)
        co_return values.error();
    why = std::apply(find_fault, *values);
    if (why.empty())
        co_return error_code{};
    co_return RESTANTE_ERROR(errc::database_unsafe);
}

}  // namespace restante::pq
