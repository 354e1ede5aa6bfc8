# Modules import each other by relative names, so one hash of all files stands in front of them:
# /assets/<hash>/views/send.js. A change of any file changes the address of all, and nothing has to be rewritten but
# @ASSETS@ in index.html. It is relative there: a proxy may have the page under a path of its own.
file(GLOB_RECURSE files RELATIVE ${WEB_DIR} ${WEB_DIR}/*.js ${WEB_DIR}/*.css ${WEB_DIR}/*.svg)
list(SORT files)
list(FILTER files EXCLUDE REGEX "^screenshots/")
set(sums "")
foreach(name IN LISTS files)
  file(SHA256 ${WEB_DIR}/${name} sum)
  string(APPEND sums "${name} ${sum}\n")
endforeach()
string(SHA256 build "${sums}")
string(SUBSTRING ${build} 0 16 build)

file(READ ${WEB_DIR}/index.html page)
string(REPLACE "@ASSETS@" "assets/${build}" page "${page}")
set(scratch ${OUTPUT}.files)
file(MAKE_DIRECTORY ${scratch})
file(WRITE ${scratch}/index.html "${page}")

# The bytes of a file as the initializer of an array.
function(read_bytes path result)
  file(READ ${path} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  set(${result} "${bytes}" PARENT_SCOPE)
endfunction()

set(media_html "text/html; charset=utf-8")
set(media_js "text/javascript; charset=utf-8")
set(media_css "text/css; charset=utf-8")
set(media_svg "image/svg+xml")

set(arrays "")
set(rows "")
set(count 0)
foreach(name index.html ${files})
  set(path ${WEB_DIR}/${name})
  if(name STREQUAL "index.html")
    set(path ${scratch}/index.html)
  endif()
  execute_process(COMMAND ${GZIP} -9nc ${path} OUTPUT_FILE ${scratch}/packed COMMAND_ERROR_IS_FATAL ANY)
  file(SHA256 ${path} sum)
  read_bytes(${path} plain)
  read_bytes(${scratch}/packed packed)
  string(REGEX MATCH "[a-z]+$" kind ${name})
  string(APPEND arrays "constexpr unsigned char plain_${count}[] = {${plain}};\n")
  string(APPEND arrays "constexpr unsigned char packed_${count}[] = {${packed}};\n")
  string(APPEND rows "    {\"${name}\", \"${media_${kind}}\", \"${sum}\", plain_${count}, packed_${count}},\n")
  math(EXPR count "${count} + 1")
endforeach()

file(WRITE ${OUTPUT}
"// Made from web/ by cmake/write_embedded_web.cmake.
#include \"server/api/page/web_files.hpp\"

namespace restante {

namespace {
${arrays}
constexpr web_file files[] = {
${rows}};
}

std::string_view web_build() { return \"${build}\"; }
std::span<const web_file> web_files() { return files; }

}  // namespace restante
")
