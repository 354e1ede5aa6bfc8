#include "http/net/bind_listeners.hpp"

#include <boost/asio/detail/socket_option.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>

#include <sys/socket.h>

namespace restante {

namespace {

using reuse_port = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

std::string describe(const host_port& address)
{
    const bool v6 = address.host.find(':') != std::string::npos;
    return (v6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

startup_failure cannot_listen(const host_port& address, const char* flag, const error_code& ec)
{
    if (ec == asio::error::address_in_use)
        return {"port " + std::to_string(address.port) + " of " + address.host +
                " is taken by another program; choose another with " + flag};
    if (ec == asio::error::access_denied)
        return {"not allowed to listen on " + describe(address) + "; ports below 1024 need privileges (" +
                flag + ")"};
    return {"cannot listen on " + describe(address) + " (" + flag + "): " + ec.message()};
}

result<tcp::endpoint> resolve(const host_port& address)
{
    asio::io_context names;
    tcp::resolver resolver(names);
    error_code ec;
    const auto found =
        resolver.resolve(address.host, std::to_string(address.port), tcp::resolver::passive, ec);
    if (ec)
        return ec;
    return found.begin()->endpoint();
}

enum class sharing { exclusive, with_our_shards };

result<tcp_acceptor> bind_acceptor(executor ex, const tcp::endpoint& endpoint, sharing how)
{
    tcp_acceptor acceptor(ex);
    error_code ec;
    acceptor.open(endpoint.protocol(), ec);
    if (!ec)
        acceptor.set_option(tcp_acceptor::reuse_address(true), ec);
    if (!ec && how == sharing::with_our_shards)
        acceptor.set_option(reuse_port(true), ec);
    if (!ec && endpoint.protocol() == tcp::v6())
        acceptor.set_option(asio::ip::v6_only(true), ec);
    if (!ec)
        acceptor.bind(endpoint, ec);
    if (!ec)
        acceptor.listen(asio::socket_base::max_listen_connections, ec);
    if (ec)
        return ec;
    return acceptor;
}

}  // namespace

startup_result<std::vector<tcp_acceptor>> bind_listeners(const host_port& address, const char* flag,
                                                         std::span<const executor> executors)
{
    const auto resolved = resolve(address);
    if (!resolved)
        return cannot_listen(address, flag, resolved.error());
    auto endpoint = *resolved;

    // SO_REUSEPORT also lets a second server of the same user bind, silently. One bind without it detects
    // that.
    if (endpoint.port() != 0) {
        const auto probe = bind_acceptor(executors.front(), endpoint, sharing::exclusive);
        if (!probe)
            return cannot_listen(address, flag, probe.error());
    }
    std::vector<tcp_acceptor> acceptors;
    for (const auto& ex : executors) {
        auto acceptor = bind_acceptor(ex, endpoint, sharing::with_our_shards);
        if (!acceptor)
            return cannot_listen(address, flag, acceptor.error());
        endpoint = acceptor->local_endpoint();
        acceptors.push_back(std::move(*acceptor));
    }
    return acceptors;
}

std::string to_string(const tcp::endpoint& endpoint)
{
    return describe({endpoint.address().to_string(), endpoint.port()});
}

}  // namespace restante
