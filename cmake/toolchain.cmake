# Flags for everything we compile. They are on an interface target, so that nothing leaks into Boost's or
# GoogleTest's own build.
add_library(restante_flags INTERFACE)
target_compile_options(restante_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Werror)
# Members omitted from a designated initializer keep their defaults, which is its purpose.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(restante_flags INTERFACE -Wno-missing-designated-field-initializers)
endif()
target_compile_definitions(restante_flags INTERFACE
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED BOOST_BEAST_SEPARATE_COMPILATION)

if(RESTANTE_SANITIZE)
  # Asio's and Beast's bodies are compiled with ours, so the whole program is instrumented.
  add_compile_options(-fsanitize=${RESTANTE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${RESTANTE_SANITIZE})
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_link_options(-fuse-ld=lld)
  find_program(RESTANTE_CCACHE ccache)
  if(RESTANTE_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
        ${CMAKE_SOURCE_DIR}/cmake/compile_cached)
    # The cache can only reuse a precompiled header that contains no timestamp.
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()
