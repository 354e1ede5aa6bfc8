# One static library per folder, with every source below it; headers and sources are side by side.
#
#   restante_library(storage LINK core PostgreSQL::PostgreSQL)
#
# main.cpp files belong to executables. A folder's pch.hpp, if it has one, is precompiled for that folder.
function(restante_library name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${arg_LINK} PRIVATE restante_flags)
  if(EXISTS ${CMAKE_SOURCE_DIR}/${name}/pch.hpp)
    target_precompile_headers(${name} PRIVATE ${CMAKE_SOURCE_DIR}/${name}/pch.hpp)
  endif()
endfunction()
