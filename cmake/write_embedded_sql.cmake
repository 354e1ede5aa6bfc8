file(GLOB files ${SQL_DIR}/*.sql)
list(SORT files)
set(rows "")
foreach(path IN LISTS files)
  get_filename_component(name ${path} NAME)
  file(READ ${path} text)
  string(APPEND rows "    {\"${name}\", R\"sql(${text})sql\"},\n")
endforeach()
file(WRITE ${OUTPUT}
"// Made from sql/ by cmake/write_embedded_sql.cmake.
#include \"storage/embedded_sql.hpp\"

namespace restante {

namespace {
constexpr embedded_file files[] = {
${rows}};
}

std::span<const embedded_file> embedded_sql() { return files; }

}  // namespace restante
")
