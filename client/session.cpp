#include "client/session.hpp"

#include "http/net/tls_context.hpp"

#include <boost/asio/co_spawn.hpp>

#include <csignal>

namespace restante::client {

namespace {

bool sends_token_in_clear(const settings& config)
{
    const auto& to = config.url.origin;
    const bool here = is_localhost_name(to.host) || (to.address && to.address->is_loopback());
    return !to.tls && !here;
}

// As nohup has it.
bool is_ignored(int number)
{
    struct sigaction now {};
    return ::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

outcome<std::unique_ptr<session>> session::open(const settings& config, reporter& out)
{
    std::unique_ptr<session> made(new session);
    auto token = token_source::open(config);
    if (!token)
        return token.error();
    made->token_ = *std::move(token);
    auto tls = make_client_tls_context(config.ca_file);
    if (!tls)
        return failure{exit_code::usage, "bad_ca_file", tls.error().message};
    if (!made->token_.token().empty() && sends_token_in_clear(config))
        out.note("plain_http", {},
                 config.server + " is plain HTTP: everybody on the way can read the token.");
    made->api_ = std::make_unique<server_api>(made->get_executor(), config, *std::move(tls), made->token_);
    made->signals_.emplace(made->get_executor(), SIGINT, SIGTERM);
    if (!is_ignored(SIGHUP))
        made->signals_->add(SIGHUP);
    return made;
}

exit_code session::run(awaitable<exit_code> work, const std::function<void(int)>& on_signal)
{
    exit_code code = exit_code::interrupted;
    signals_->async_wait([&](error_code ec, int number) {
        if (ec)
            return;
        signals_->clear(ec);  // the next one has its usual effect
        // A terminal that closes may say so more than once.
        if (number == SIGHUP)
            std::signal(SIGHUP, SIG_IGN);
        if (on_signal)
            on_signal(number);
        else
            io_.stop();
    });
    std::exception_ptr thrown;
    asio::co_spawn(io_, std::move(work), [&](std::exception_ptr failed, exit_code value) {
        thrown = failed;
        code = failed ? exit_code::failed : value;
        io_.stop();
    });
    io_.run();
    if (thrown)
        std::rethrow_exception(thrown);
    return code;
}

}  // namespace restante::client
