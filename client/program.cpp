#include "client/program.hpp"

#include "client/command_line.hpp"
#include "client/login.hpp"
#include "client/pull.hpp"
#include "client/reporter.hpp"
#include "client/send.hpp"

#include <algorithm>
#include <iostream>

namespace restante::client {

namespace {

exit_code run(const command& asked, const environment& env)
{
    switch (asked.what) {
        case verb::pull: return run_pull(asked.config, env);
        case verb::send: return run_send(asked.config, asked.files);
        case verb::login: return run_login(asked.config, env);
    }
    return exit_code::usage;
}

}  // namespace

int run_program(std::string_view program, std::span<const std::string> args, const environment& env)
{
    const auto parsed = parse_command_line(program, args, env);
    if (const auto* wrong = std::get_if<failure>(&parsed)) {
        // A program that asked for lines gets one, whatever else is wrong with its words.
        if (std::find(args.begin(), args.end(), "--json") != args.end())
            return static_cast<int>(reporter(true).fail(*wrong));
        std::cerr << wrong->text << '\n';
        return static_cast<int>(wrong->exit);
    }
    if (const auto* help = std::get_if<help_request>(&parsed)) {
        std::cout << help->text;
        return 0;
    }
    return static_cast<int>(run(std::get<command>(parsed), env));
}

}  // namespace restante::client
