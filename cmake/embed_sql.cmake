# Embeds the migrations in the binary, so that a server needs no other files.
file(GLOB sql_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/sql/*.sql)
set(embedded ${CMAKE_BINARY_DIR}/embedded_sql.cpp)
# Part of the command, so that a file that is gone is noticed too.
string(MD5 names "${sql_files}")
add_custom_command(
  OUTPUT ${embedded}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${embedded} -DSQL_DIR=${CMAKE_SOURCE_DIR}/sql -DNAMES=${names} -P ${CMAKE_SOURCE_DIR}/cmake/write_embedded_sql.cmake
  DEPENDS ${sql_files} ${CMAKE_SOURCE_DIR}/cmake/write_embedded_sql.cmake
  COMMENT "Embedding sql/" VERBATIM)
target_sources(storage PRIVATE ${embedded})
set_source_files_properties(${embedded} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
