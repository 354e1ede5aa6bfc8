#include "client/login.hpp"

#include "client/feed_row.hpp"
#include "client/login_files.hpp"
#include "client/session.hpp"
#include "client/token_facts.hpp"
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
constexpr const char* has_token = "This workspace has a token already: log in with it, without --register.";

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

// Takes the token of the new workspace.
awaitable<outcome<void>> register_workspace(server_api& api, settings& config)
{
    json::object body{{"id", config.workspace}, {"delivery_mode", "poll"}};
    if (!config.name.empty())
        body["name"] = config.name;
    const auto got = co_await api.post("/registry/register", json::serialize(body), time_limit);
    if (!got)
        co_return got.error();
    if (!got->ok()) {
        auto why = failure_of(*got, "registering");
        if (why.code == "missing_token")  // only its owner may register it again
            why = {why.exit, "already_registered", has_token};
        co_return why;
    }
    boost::system::error_code ec;
    const auto parsed = json::parse(got->body, ec);
    const auto* object = ec ? nullptr : parsed.if_object();
    const auto* token = object ? object->if_contains("auth_token") : nullptr;
    if (!token || !token->is_string())
        co_return failure{exit_code::refused, "already_registered", has_token};
    auto made = parse_token(token->get_string(), "the server's answer");
    if (!made)
        co_return made.error();
    config.token = *std::move(made);
    co_return outcome<void>();
}

// Whether the token opens the inbox.
awaitable<outcome<void>> try_token(server_api& api, const std::string& workspace)
{
    const auto got = co_await api.get("/workspaces/" + workspace + "/activity?limit=1", time_limit);
    if (!got)
        co_return got.error();
    if (!got->ok())
        co_return failure_of(*got, "trying the token");
    if (const auto page = parse_page(got->body); !page)
        co_return page.error();
    co_return outcome<void>();
}

// Asks what the token is, and takes its workspace where none was named.
awaitable<outcome<void>> judge_token(server_api& api, settings& config, reporter& out)
{
    const auto got = co_await api.get("/token", time_limit);
    if (!got)
        co_return got.error();
    outcome<token_facts> facts;  // of which an older server says nothing
    if (got->ok()) {
        facts = parse_token_facts(got->body);
    } else if (auto why = failure_of(*got, "trying the token"); why.code != "no_such_route") {
        co_return why;
    }
    if (!facts)
        co_return facts.error();
    if (auto good = check_token(*facts, config.workspace); !good)
        co_return good;
    if (config.workspace.empty())
        config.workspace = facts->workspace;
    if (!only_sends(*facts))
        if (auto opens = co_await try_token(api, config.workspace); !opens)
            co_return opens;
    if (const auto words = in_words(*facts); !words.empty())
        out.note("token", {}, words);
    co_return outcome<void>();
}

// Its own errors are in `how`.
awaitable<exit_code> run_into(awaitable<outcome<void>> work, outcome<void>& how)
{
    how = co_await std::move(work);
    co_return exit_code::done;
}

outcome<void> run_on(session& talk, awaitable<outcome<void>> work)
{
    outcome<void> how;
    if (talk.run(run_into(std::move(work), how)) == exit_code::interrupted)
        return failure{exit_code::interrupted, "interrupted", "Interrupted."};
    return how;
}

outcome<void> store(login_files& files, const settings& config, reporter& out)
{
    const auto stored = files.store(config.token);
    if (!files.kept().empty())
        out.note("token", {}, "The token of the workspace before this one is kept in " + files.kept() + '.');
    return stored;
}

outcome<void> register_and_store(settings& config, const places& where, reporter& out)
{
    if (config.workspace.empty())
        config.workspace = to_string(make_uuid_v4());
    // Whatever can fail without the server does so first: it gives a new token only once.
    auto files = login_files::prepare(config, where);
    if (!files)
        return files.error();
    auto opened = session::open(config, out);
    if (!opened)
        return opened.error();
    if (auto done = run_on(**opened, register_workspace((*opened)->api(), config)); !done)
        return done;
    return store(*files, config, out);
}

outcome<void> judge_and_store(settings& config, const places& where, reporter& out)
{
    if (stores_token(config) && config.token.empty()) {
        auto token = ask_for_token();
        if (!token)
            return token.error();
        config.token = *std::move(token);
    }
    auto opened = session::open(config, out);
    if (!opened)
        return opened.error();
    if (auto good = run_on(**opened, judge_token((*opened)->api(), config, out)); !good)
        return good;
    auto files = login_files::prepare(config, where);
    if (!files)
        return files.error();
    return store(*files, config, out);
}

outcome<void> log_in(settings& config, const environment& env, reporter& out)
{
    const auto where = find_places(env);
    if (!where)
        return where.error();
    return config.register_workspace ? register_and_store(config, *where, out)
                                     : judge_and_store(config, *where, out);
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
