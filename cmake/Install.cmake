# Installs into a prefix that may be moved afterwards: every path inside is
# relative to the file that holds it.

set(cyxla_lib "${CMAKE_CURRENT_BINARY_DIR}/lib")
set(cyxla_package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/cyxla")

install(FILES "${cyxla_lib}/libcyxla.so.${PROJECT_VERSION}"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
install(FILES "${cyxla_lib}/libcyxla.so.0" "${cyxla_lib}/libcyxla.so" "${cyxla_lib}/libcyxla.a"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(FILES "${PROJECT_SOURCE_DIR}/include/cyxla.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(PROGRAMS "${cyxla_lib}/cyxla" DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE-MIT" "${PROJECT_SOURCE_DIR}/LICENSE-APACHE"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/cyxlaConfig.cmake.in"
  "${CMAKE_CURRENT_BINARY_DIR}/cyxlaConfig.cmake"
  INSTALL_DESTINATION "${cyxla_package_folder}"
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR
  NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# While the version is 0.x, another minor version is another ABI.
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/cyxlaConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/cyxlaConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/cyxlaConfigVersion.cmake"
  DESTINATION "${cyxla_package_folder}")

# pkg-config: from its own folder up to the prefix.
file(RELATIVE_PATH cyxla_up "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" cyxla_up "${cyxla_up}")
string(REPLACE ";" " -l" cyxla_private "${CYXLA_SYSTEM_LIBRARIES}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/cyxla.pc.in" "${CMAKE_CURRENT_BINARY_DIR}/cyxla.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/cyxla.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
