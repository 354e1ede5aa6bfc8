# Embeds the page in the binary, so that a server needs no other files. gzip -n leaves time and name out: the same files
# give the same bytes.
find_program(GZIP gzip REQUIRED)
file(GLOB_RECURSE web_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/*.html ${CMAKE_SOURCE_DIR}/web/*.js
  ${CMAKE_SOURCE_DIR}/web/*.css ${CMAKE_SOURCE_DIR}/web/*.svg)
set(embedded ${CMAKE_BINARY_DIR}/embedded_web.cpp)
# Part of the command, so that a file that is gone is noticed too.
string(MD5 names "${web_files}")
add_custom_command(
  OUTPUT ${embedded}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${embedded} -DWEB_DIR=${CMAKE_SOURCE_DIR}/web -DGZIP=${GZIP} -DNAMES=${names}
    -P ${CMAKE_SOURCE_DIR}/cmake/write_embedded_web.cmake
  DEPENDS ${web_files} ${CMAKE_SOURCE_DIR}/cmake/write_embedded_web.cmake
  COMMENT "Embedding web/" VERBATIM)
target_sources(server PRIVATE ${embedded})
set_source_files_properties(${embedded} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
