#include "storage/pq/conninfo.hpp"

#include <boost/asio/ip/basic_resolver.hpp>
#include <libpq-fe.h>

namespace restante::pq {

result<conninfo> conninfo::parse(const std::string& text, std::string& why)
{
    char* message = nullptr;
    PQconninfoOption* options = PQconninfoParse(text.c_str(), &message);
    if (!options) {
        why = message ? message : "not a connection string";
        PQfreemem(message);
        return RESTANTE_ERROR(errc::bad_setting);
    }
    conninfo parsed;
    for (auto* option = options; option->keyword; ++option) {
        if (option->val)
            parsed.items_.emplace_back(option->keyword, option->val);
    }
    PQconninfoFree(options);
    return parsed;
}

const std::string* conninfo::find(const std::string& keyword) const
{
    for (const auto& [name, value] : items_) {
        if (name == keyword)
            return &value;
    }
    return nullptr;
}

void conninfo::set_default(const std::string& keyword, const std::string& value)
{
    if (!find(keyword))
        items_.emplace_back(keyword, value);
}

void conninfo::append_options(const std::string& session_settings)
{
    for (auto& [name, value] : items_) {
        if (name == "options") {
            // Ours first: the operator's settings come later and take precedence.
            value = session_settings + " " + value;
            return;
        }
    }
    items_.emplace_back("options", session_settings);
}

awaitable<error_code> conninfo::resolve_host()
{
    const std::string* host = find("host");
    const bool nothing_to_do = !host || host->empty() || host->front() == '/' || host->front() == '@' ||
                               find("hostaddr") || host->find(',') != std::string::npos;
    if (nothing_to_do)
        co_return error_code{};
    asio::ip::basic_resolver<tcp, executor> resolver(co_await asio::this_coro::executor);
    auto [ec, found] = co_await resolver.async_resolve(*host, "", use_tuple);
    if (ec || found.empty())
        co_return RESTANTE_ERROR(errc::database_unavailable);
    items_.emplace_back("hostaddr", found.begin()->endpoint().address().to_string());
    co_return error_code{};
}

const char* const* conninfo::keywords()
{
    keywords_.clear();
    for (const auto& item : items_)
        keywords_.push_back(item.first.c_str());
    keywords_.push_back(nullptr);
    return keywords_.data();
}

const char* const* conninfo::values()
{
    values_.clear();
    for (const auto& item : items_)
        values_.push_back(item.second.c_str());
    values_.push_back(nullptr);
    return values_.data();
}

}  // namespace restante::pq
