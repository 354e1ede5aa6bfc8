#include "test/support/test_server.hpp"

#include "http/net/bind_listeners.hpp"

#include <boost/asio/post.hpp>

#include <future>
#include <stdexcept>

namespace restante::test {

namespace {

tcp_acceptor open_one(executor ex)
{
    const std::vector<executor> one{ex};
    auto acceptors = bind_listeners({"127.0.0.1", 0}, "--listen", one);
    if (!acceptors)
        throw std::runtime_error(acceptors.error().message);
    return std::move(acceptors->front());
}

}  // namespace

test_server::test_server(options chosen)
    : chosen_(std::move(chosen)),
      shards_(1, chosen_.limits),
      cors_(chosen_.allowed_origins),
      metrics_(shards_[0].metrics(), chosen_.routes),
      environment_{.routes = chosen_.routes,
                   .cors = cors_,
                   .metrics = metrics_,
                   .access = chosen_.access,
                   .timeouts = chosen_.timeouts,
                   .memory = chosen_.memory}
{
    auto plain = open_one(shards_[0].get_executor());
    port_ = plain.local_endpoint().port();
    shards_[0].add_listener(std::move(plain), transport::plain, environment_);
    if (chosen_.tls) {
        shards_[0].set_tls(chosen_.tls);
        auto encrypted = open_one(shards_[0].get_executor());
        tls_port_ = encrypted.local_endpoint().port();
        shards_[0].add_listener(std::move(encrypted), transport::tls, environment_);
    }
    shards_.start();
}

test_server::~test_server()
{
    stop(std::chrono::seconds(5));
    join();
}

std::string test_server::metrics_text()
{
    std::promise<std::string> told;
    asio::post(shards_[0].get_executor(),
               [this, &told] { told.set_value(shards_[0].metrics().to_prometheus()); });
    return told.get_future().get();
}

}  // namespace restante::test
