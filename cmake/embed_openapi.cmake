# Embeds what the rooms of the API say about their routes, for /openapi.json.
file(GLOB openapi_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/server/api/*/openapi.json)
set(embedded_openapi ${CMAKE_BINARY_DIR}/embedded_openapi.cpp)
# Part of the command, so that a file that is gone is noticed too.
string(MD5 names "${openapi_files}")
add_custom_command(
  OUTPUT ${embedded_openapi}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${embedded_openapi} -DROOT=${CMAKE_SOURCE_DIR} -DNAMES=${names}
    -P ${CMAKE_SOURCE_DIR}/cmake/write_embedded_openapi.cmake
  DEPENDS ${openapi_files} ${CMAKE_SOURCE_DIR}/cmake/write_embedded_openapi.cmake
  COMMENT "Embedding server/api/*/openapi.json" VERBATIM)
target_sources(server PRIVATE ${embedded_openapi})
set_source_files_properties(${embedded_openapi} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
