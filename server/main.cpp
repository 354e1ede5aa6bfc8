#include "cli/command_line.hpp"
#include "client/command_line.hpp"
#include "client/program.hpp"
#include "server/commands/content.hpp"
#include "server/commands/grant.hpp"
#include "server/commands/migrate.hpp"
#include "server/commands/openapi.hpp"
#include "server/commands/serve.hpp"
#include "server/commands/status.hpp"
#include "server/commands/sweep.hpp"
#include "server/commands/token.hpp"
#include "server/commands/workspace.hpp"
#include "server/commands/workspace_quota.hpp"

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <poll.h>
#include <unistd.h>

namespace {

using namespace restante;

int run(const command& asked, std::span<const std::string> arguments)
{
    switch (asked.what) {
        case verb::serve:
            return run_serve(asked.config,
                             [=] { return read_settings_again(arguments, process_environment()); });
        case verb::migrate: return run_migrate(asked);
        case verb::sweep: return run_sweep(asked);
        case verb::status: return run_status(asked);
        case verb::openapi: return run_openapi();
        case verb::version: std::cout << "restante " << RESTANTE_VERSION << '\n'; return EXIT_SUCCESS;
        case verb::workspace_add:
        case verb::workspace_list:
        case verb::workspace_secret:
        case verb::workspace_remove: return run_workspace(asked);
        case verb::workspace_quota: return run_workspace_quota(asked);
        case verb::token_issue:
        case verb::token_list:
        case verb::token_revoke: return run_token(asked);
        case verb::grant_create:
        case verb::grant_list:
        case verb::grant_revoke: return run_grant(asked);
        case verb::content_check: return run_content_check(asked);
        case verb::content_move: return run_content_move(asked);
        default: return EXIT_FAILURE;
    }
}

// A reader that has seen enough, such as head, is no failure.
bool reader_is_gone()
{
    pollfd output{STDOUT_FILENO, POLLOUT, 0};
    return ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

// What was printed must have arrived: on a full disk, half a report says that all is well.
int report_lost_output(int code)
{
    std::cout.flush();
    if (code != EXIT_SUCCESS || std::cout || reader_is_gone())
        return code;
    std::cerr << "restante: the output could not be written\n";
    return EXIT_FAILURE;
}

int run_command_line(int argc, char** argv)
{
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (client::is_client_command(arguments))
        return client::run_program("restante", arguments, process_environment());
    const auto parsed = parse_command_line(arguments, process_environment());
    if (const auto* wrong = std::get_if<usage_error>(&parsed)) {
        std::cerr << wrong->message << '\n';
        return usage_error::exit_code;
    }
    if (const auto* help = std::get_if<help_request>(&parsed)) {
        std::cout << help->text;
        return EXIT_SUCCESS;
    }
    const auto& asked = std::get<command>(parsed);
    const int code = run(asked, arguments);
    return asked.what == verb::serve ? code : report_lost_output(code);
}

}  // namespace

// Foreseeable failures have been reported by then; what escapes is a bug or a lack of memory, and still gets
// one sentence and an exit code.
int main(int argc, char** argv)
try {
    // A peer that hangs up is an error code, not a signal.
    std::signal(SIGPIPE, SIG_IGN);
    return run_command_line(argc, argv);
} catch (const std::exception& escaped) {
    std::cerr << "restante: unexpected error: " << escaped.what() << '\n';
    return EXIT_FAILURE;
}
