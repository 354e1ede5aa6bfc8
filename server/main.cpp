#include "core/command_line.hpp"
#include "server/commands/serve.hpp"

#include <cstdlib>
#include <iostream>

int main(int argc, char** argv)
{
    using namespace restante;
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const auto parsed = parse_command_line(arguments, process_environment());
    if (const auto* wrong = std::get_if<usage_error>(&parsed)) {
        std::cerr << wrong->message << '\n';
        return usage_error::exit_code;
    }
    if (const auto* help = std::get_if<help_request>(&parsed)) {
        std::cout << help->text;
        return EXIT_SUCCESS;
    }
    return run_serve(std::get<command>(parsed).config);
}
