#include "client/login.hpp"

#include "client/feed_row.hpp"
#include "client/login_files.hpp"
#include "client/session.hpp"
#include "core/ids.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <csignal>
#include <iostream>
#include <iterator>
#include <termios.h>

namespace restante::client {

namespace {

namespace json = boost::json;

constexpr auto time_limit = std::chrono::seconds(30);

// Turns the echo of the terminal off while a secret is typed. One at a time.
class quiet_terminal {
public:
    quiet_terminal()
    {
        if (::tcgetattr(STDIN_FILENO, &before_) != 0)
            return;
        auto quiet = before_;
        quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        // A signal would leave it like that to the shell.
        struct sigaction restore{};
        restore.sa_handler = restore_and_end;
        restore.sa_flags = static_cast<int>(SA_RESETHAND);
        for (std::size_t i = 0; i < std::size(signals); ++i)
            ::sigaction(signals[i], &restore, &actions_[i]);
        changed_ = true;
        ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
    }
    ~quiet_terminal()
    {
        if (!changed_)
            return;
        ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
        for (std::size_t i = 0; i < std::size(signals); ++i)
            ::sigaction(signals[i], &actions_[i], nullptr);
    }
    quiet_terminal(const quiet_terminal&) = delete;
    quiet_terminal& operator=(const quiet_terminal&) = delete;

private:
    static constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

    // Calls nothing but what a handler may. The signal comes again when it returns, with its usual effect.
    static void restore_and_end(int number)
    {
        ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
        ::raise(number);
    }

    static inline termios before_{};
    struct sigaction actions_[std::size(signals)]{};
    bool changed_ = false;
};

outcome<std::string> ask_for_token()
{
    const bool terminal = ::isatty(STDIN_FILENO) == 1;
    std::string line;
    if (terminal) {
        const quiet_terminal quiet;  // before the question, or what is typed early would be thrown away
        std::cerr << "Token: " << std::flush;
        std::getline(std::cin, line);
        std::cerr << '\n';
    } else {
        std::getline(std::cin, line);
    }
    return parse_token(line, terminal ? "what was typed" : "standard input");
}

// The token of the new workspace.
awaitable<outcome<std::string>> register_workspace(server_api& api, const settings& config)
{
    json::object body{{"id", config.workspace}, {"delivery_mode", "poll"}};
    if (!config.name.empty())
        body["name"] = config.name;
    const auto got = co_await api.post("/registry/register", json::serialize(body), time_limit);
    if (!got)
        co_return got.error();
    if (!got->ok())
        co_return failure_of(*got, "registering");
    boost::system::error_code ec;
    const auto parsed = json::parse(got->body, ec);
    const auto* object = ec ? nullptr : parsed.if_object();
    const auto* token = object ? object->if_contains("auth_token") : nullptr;
    if (!token || !token->is_string())
        co_return failure{exit_code::refused, "already_registered",
                          "This workspace has a token already: log in with it, without --register."};
    co_return parse_token(token->get_string(), "the server's answer");
}

// Whether the server takes the token.
awaitable<outcome<void>> try_token(server_api& api, const settings& config)
{
    const auto got = co_await api.get("/workspaces/" + config.workspace + "/activity?limit=1", time_limit);
    if (!got)
        co_return got.error();
    if (!got->ok())
        co_return failure_of(*got, "trying the token");
    if (const auto page = parse_page(got->body); !page)
        co_return page.error();
    co_return outcome<void>();
}

awaitable<exit_code> obtain(server_api& api, settings& config, outcome<void>& how)
{
    if (config.register_workspace) {
        auto token = co_await register_workspace(api, config);
        if (token)
            config.token = *std::move(token);
        else
            how = token.error();
    } else {
        how = co_await try_token(api, config);
    }
    co_return exit_code::done;
}

outcome<void> log_in(settings& config, const environment& env, reporter& out)
{
    const auto where = find_places(env);
    if (!where)
        return where.error();
    if (config.workspace.empty() && !config.register_workspace)
        return failure{exit_code::usage, "usage",
                       "Which workspace? --workspace ID names one, --register makes one."};
    if (config.workspace.empty())
        config.workspace = to_string(make_uuid_v4());
    if (!config.register_workspace && stores_token(config) && config.token.empty()) {
        auto token = ask_for_token();
        if (!token)
            return token.error();
        config.token = *std::move(token);
    }
    // Whatever can fail without the server does so first: it gives a new token only once.
    auto files = login_files::prepare(config, *where);
    if (!files)
        return files.error();
    auto opened = session::open(config, out);
    if (!opened)
        return opened.error();
    outcome<void> how;
    if ((*opened)->run(obtain((*opened)->api(), config, how)) == exit_code::interrupted)
        return failure{exit_code::interrupted, "interrupted", "Interrupted."};
    if (!how)
        return how;
    return files->store(config.token);
}

}  // namespace

exit_code run_login(const settings& given, const environment& env)
{
    reporter out(false);
    settings config = given;
    if (auto done = log_in(config, env, out); !done)
        return out.fail(done.error());
    std::cout << config.workspace << '\n';
    return exit_code::done;
}

}  // namespace restante::client
