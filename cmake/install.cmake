# cmake --install: two components, server and client, which are the two packages of packaging/build. Manual pages and
# completions are made by restante-manual from the tables that the programs read their command lines with.
include(GNUInstallDirs)

restante_library(manual LINK cli client)
add_executable(restante-manual manual/main.cpp)
target_link_libraries(restante-manual PRIVATE manual restante_flags)
target_compile_definitions(restante-manual PRIVATE RESTANTE_VERSION="${PROJECT_VERSION}")

# SOURCE_DATE_EPOCH, if it is set, decides about the date on the pages.
string(TIMESTAMP today "%Y-%m-%d" UTC)
set(made ${CMAKE_BINARY_DIR}/manual)
add_custom_command(OUTPUT ${made}/done
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${made}
  COMMAND restante-manual ${made} ${today}
  COMMAND ${CMAKE_COMMAND} -E touch ${made}/done
  DEPENDS restante-manual COMMENT "Making manual pages and completions" VERBATIM)
add_custom_target(manual_pages ALL DEPENDS ${made}/done)

foreach(side server client)
  set(program restante)
  if(side STREQUAL client)
    set(program restante-client)
  endif()
  install(TARGETS ${program} RUNTIME COMPONENT ${side})
  install(DIRECTORY ${made}/${side}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${side} FILES_MATCHING PATTERN "*.1")
  install(DIRECTORY ${made}/${side}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT ${side})
  install(DIRECTORY ${made}/${side}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT ${side})
  install(DIRECTORY ${made}/${side}/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT ${side})
endforeach()
install(FILES ${made}/server/man/restante.conf.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5 COMPONENT server)
install(FILES docs/restante.conf docs/alerts.yml docs/grafana-dashboard.json sql/roles/application_role.sql
  DESTINATION ${CMAKE_INSTALL_DATADIR}/restante COMPONENT server)

# The units name the program where this installation puts it.
function(restante_install_unit source written place component)
  get_filename_component(name ${source} NAME)
  install(CODE "
    file(READ \"${CMAKE_SOURCE_DIR}/${source}\" text)
    string(REPLACE \"${written}\" \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\" text \"\${text}\")
    file(WRITE \"${CMAKE_BINARY_DIR}/units/${name}\" \"\${text}\")" COMPONENT ${component})
  install(FILES ${CMAKE_BINARY_DIR}/units/${name} DESTINATION ${place} COMPONENT ${component})
endfunction()
restante_install_unit(docs/restante.service /usr/local/bin lib/systemd/system server)
restante_install_unit(client/service/restante-pull.service %h/.local/bin lib/systemd/user client)
