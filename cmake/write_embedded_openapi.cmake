file(GLOB files RELATIVE ${ROOT} ${ROOT}/server/api/*/openapi.json)
list(SORT files)
set(rows "")
foreach(path IN LISTS files)
  file(READ ${ROOT}/${path} text)
  string(APPEND rows "    {\"${path}\", R\"json(${text})json\"},\n")
endforeach()
file(WRITE ${OUTPUT}
"// Made from server/api/*/openapi.json by cmake/write_embedded_openapi.cmake.
#include \"server/api/openapi/fragments.hpp\"

namespace restante {

namespace {
constexpr embedded_schema files[] = {
${rows}};
}

std::span<const embedded_schema> embedded_schemas() { return files; }

}  // namespace restante
")
