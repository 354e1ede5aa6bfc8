#include "server/commands/openapi.hpp"

#include "server/app/api_document.hpp"

#include <cstdlib>
#include <iostream>

namespace restante {

int run_openapi()
{
    std::cout << make_api_document(settings{}) << '\n';
    return EXIT_SUCCESS;
}

}  // namespace restante
