#include "storage/pq/conninfo.hpp"

#include "core/name_lookup.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

namespace restante::pq {

namespace {

std::vector<std::string> split_list(const std::string* text)
{
    std::vector<std::string> parts;
    if (!text)
        return parts;
    for (std::size_t begin = 0;;) {
        const auto comma = text->find(',', begin);
        parts.push_back(text->substr(begin, comma - begin));
        if (comma == std::string::npos)
            return parts;
        begin = comma + 1;
    }
}

std::string element(const std::vector<std::string>& list, std::size_t index)
{
    return index < list.size() ? list[index] : std::string();
}

bool has_a_name(const server_address& host)
{
    error_code no_address;
    asio::ip::make_address(host.host, no_address);
    return host.hostaddr.empty() && !host.host.empty() && host.host.front() != '/' &&
           host.host.front() != '@' && no_address;
}

// Where the names of this process's databases led last. While their name server is away, they lead there
// still.
class known_names {
public:
    static known_names& all()
    {
        static known_names only;
        return only;
    }

    name_lookup::addresses last(const std::string& name)
    {
        const std::lock_guard lock(mutex_);
        return addresses_[name];
    }

    void remember(const std::string& name, const name_lookup::addresses& found)
    {
        const std::lock_guard lock(mutex_);
        addresses_[name] = found;
    }

private:
    std::mutex mutex_;
    std::map<std::string, name_lookup::addresses> addresses_;
};

// The resolver's failure may be a name server's, too; so what it does not find is where it was.
awaitable<name_lookup::addresses> addresses_of(const std::string& name, name_lookup& asked,
                                               name_lookup::time_point until)
{
    auto found = co_await asked.wait_until(until);
    if (!found || found->empty())
        co_return known_names::all().last(name);
    known_names::all().remember(name, *found);
    co_return std::move(*found);
}

}  // namespace

std::string server_address::text() const
{
    const auto& where = hostaddr.empty() ? host : hostaddr;
    return port.empty() ? where : where + ":" + port;
}

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
    if (!parsed.take_hosts(why))
        return RESTANTE_ERROR(errc::bad_setting);
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

void conninfo::set(const std::string& keyword, const std::string& value)
{
    for (auto& [name, current] : items_) {
        if (name == keyword) {
            current = value;
            return;
        }
    }
    items_.emplace_back(keyword, value);
}

bool conninfo::take_hosts(std::string& why)
{
    const auto names = split_list(find("host"));
    const auto addresses = split_list(find("hostaddr"));
    const auto ports = split_list(find("port"));
    const auto count = std::max({names.size(), addresses.size(), std::size_t{1}});
    const bool whole = (names.empty() || names.size() == count) &&
                       (addresses.empty() || addresses.size() == count) &&
                       (ports.size() <= 1 || ports.size() == count);
    if (!whole) {
        why = "the lists of hosts, addresses and ports differ in length";
        return false;
    }
    for (std::size_t i = 0; i < count; ++i) {
        const auto port = ports.size() == 1 ? ports[0] : element(ports, i);
        hosts_.push_back({element(names, i), element(addresses, i), port});
    }
    // Of several servers one is the primary, which libpq finds by itself in the other form of connecting.
    if (count > 1)
        set_default("target_session_attrs", "read-write");
    return true;
}

awaitable<std::vector<server_address>> conninfo::resolve(std::chrono::milliseconds limit) const
{
    const executor home = co_await asio::this_coro::executor;
    const auto until = name_lookup::time_point::clock::now() + limit;
    std::vector<std::optional<name_lookup>> lookups;
    for (const auto& host : hosts_) {
        lookups.emplace_back();
        if (has_a_name(host))
            lookups.back().emplace(home, host.host, name_lookup::kind::all);
    }
    std::vector<server_address> all;
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        const auto& host = hosts_[i];
        if (!lookups[i]) {
            all.push_back(host);
            continue;
        }
        const auto found = co_await addresses_of(host.host, *lookups[i], until);
        for (const auto& address : found)
            all.push_back({host.host, address.to_string(), host.port});
    }
    co_return all;
}

void conninfo::select(const server_address& one)
{
    // To libpq an empty value is none.
    set("host", one.host);
    set("hostaddr", one.hostaddr);
    set("port", one.port);
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
