#include "client/program.hpp"

#include <csignal>
#include <iostream>
#include <vector>

// restante-client: the verbs of a workspace's side, without the server and its libraries.
int main(int argc, char** argv)
try {
    // A peer that hangs up is an error code, not a signal.
    std::signal(SIGPIPE, SIG_IGN);
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (!arguments.empty() && (arguments[0] == "version" || arguments[0] == "--version")) {
        std::cout << "restante-client " << RESTANTE_VERSION << '\n';
        return 0;
    }
    return restante::client::run_program("restante-client", arguments, restante::process_environment());
} catch (const std::exception& escaped) {
    std::cerr << "restante-client: unexpected error: " << escaped.what() << '\n';
    return 1;
}
