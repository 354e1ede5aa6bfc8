#include "manual/completions.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>

namespace {

using namespace restante::manual;
namespace fs = std::filesystem;

void write(const fs::path& folder, const made_file& what)
{
    fs::create_directories(folder);
    std::ofstream out(folder / what.name, std::ios::binary);
    out << what.text;
    out.close();
    if (!out)
        throw std::runtime_error((folder / what.name).string() + " cannot be written");
}

void write_program(const fs::path& folder, const program_entry& program, const edition& which)
{
    for (const auto& page : make_man_pages(program, which))
        write(folder / "man", page);
    write(folder / "bash", {program.name, make_bash_completion(program)});
    write(folder / "zsh", {'_' + program.name, make_zsh_completion(program)});
    write(folder / "fish", {program.name + ".fish", make_fish_completion(program)});
}

}  // namespace

// Writes the manual pages and completions of both programs: restante-manual FOLDER DATE. Run by the build.
int main(int argc, char** argv)
try {
    if (argc != 3)
        throw std::runtime_error("usage: restante-manual FOLDER DATE");
    const edition which{argv[2], RESTANTE_VERSION};
    const fs::path folder(argv[1]);
    write_program(folder / "server", server_program(), which);
    write_program(folder / "client", client_program(), which);
    write(folder / "server" / "man", make_config_page(which));
    return 0;
} catch (const std::exception& problem) {
    std::cerr << "restante-manual: " << problem.what() << '\n';
    return 1;
}
