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
    auto acceptors = open_listeners({"127.0.0.1", 0}, "--listen", one);
    if (!acceptors)
        throw std::runtime_error(acceptors.error().message);
    return std::move(acceptors->front());
}

services with_access(services provided, access_policy* access)
{
    provided.access = access;
    return provided;
}

}  // namespace

test_server::test_server(options chosen)
    : chosen_(std::move(chosen)),
      spools_(chosen_.config.body_memory, chosen_.config.spool_limit, chosen_.config.spool_dir),
      shards_(1, chosen_.limits),
      app_(chosen_.config, "", shared_state{spools_, keys_, bulletin_, commits_, false}, shards_[0], shards_),
      services_(with_access(app_.provided(), chosen_.access)),
      cors_(chosen_.config.allowed_origins),
      requests_(shards_[0].counts(), chosen_.routes),
      environment_{chosen_.routes, services_, cors_, requests_}
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
               [this, &told] { told.set_value(shards_[0].counts().to_prometheus()); });
    return told.get_future().get();
}

}  // namespace restante::test
