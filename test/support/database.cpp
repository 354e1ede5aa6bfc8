#include "test/support/database.hpp"

#include "core/ids.hpp"
#include "test/support/run.hpp"

#include <cstdlib>
#include <stdexcept>

namespace restante::test {

namespace {

std::string cluster()
{
    const char* conninfo = std::getenv("RESTANTE_TEST_DB");
    if (!conninfo)
        throw std::runtime_error(
            "RESTANTE_TEST_DB is not set; run the tests with ./check, or start a cluster "
            "with test/support/cluster and name it there");
    return conninfo;
}

std::string run_script(const std::string& conninfo, const std::string& text)
{
    std::string out;
    run([&]() -> awaitable<void> {
        std::string why;
        pq::connect_options options{.conninfo = conninfo};
        auto opened = co_await pq::connection::open(options, &why);
        if (!opened)
            throw std::runtime_error("cannot connect: " + why);
        auto done = co_await (*opened)->execute_script(text);
        if (!done)
            throw std::runtime_error((*opened)->last_message() + " in: " + text.substr(0, 200));
        // A simple query returns text format, which as<T>() cannot read.
        if (!done->empty())
            out = done->text(0, 0);
    });
    return out;
}

}  // namespace

scratch_database::scratch_database() : name_("t_" + to_string(make_uuid_v4()).substr(0, 13))
{
    std::replace(name_.begin(), name_.end(), '-', '_');
    run_script(cluster(), "CREATE DATABASE " + name_);
    conninfo_ = cluster() + " dbname=" + name_;
}

scratch_database::~scratch_database()
{
    try {
        run_script(cluster(), "DROP DATABASE IF EXISTS " + name_ + " WITH (FORCE)");
    } catch (const std::exception&) {
        // The cluster may have been stopped by the test; there is nothing left to drop then.
    }
}

void scratch_database::sql(const std::string& text) const
{
    run_script(conninfo_, text);
}

std::string scratch_database::ask(const std::string& query) const
{
    return run_script(conninfo_, query);
}

}  // namespace restante::test
