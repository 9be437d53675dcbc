# Runs cargo, and offers what it makes as cyxla::cyxla and cyxla::cyxla_static.

set(CYXLA_CARGO_TARGET_DIR "${CMAKE_CURRENT_BINARY_DIR}/cargo" CACHE PATH
    "Folder where cargo builds libcyxla")

# What the static library needs from the system, as
# `cargo rustc -- --print native-static-libs` tells it.
set(CYXLA_SYSTEM_LIBRARIES gcc_s util rt pthread m dl c)

function(cyxla_cargo_build)
  find_program(CYXLA_CARGO cargo HINTS "$ENV{CARGO_HOME}/bin" "$ENV{HOME}/.cargo/bin")
  if(NOT CYXLA_CARGO)
    message(FATAL_ERROR "libcyxla is built with cargo, which is not on PATH; install Rust 1.88 or newer, or set CYXLA_CARGO to cargo's path.")
  endif()

  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    set(profile dev)
    set(folder "${CYXLA_CARGO_TARGET_DIR}/debug")
  else()
    set(profile release)
    set(folder "${CYXLA_CARGO_TARGET_DIR}/release")
  endif()

  set(lib "${CMAKE_CURRENT_BINARY_DIR}/lib")
  set(full_name "libcyxla.so.${PROJECT_VERSION}")
  # cargo knows best whether there is something to do, so it is always asked.
  add_custom_target(cyxla_cargo ALL
    COMMAND ${CYXLA_CARGO} build --profile ${profile} --locked
            --package cyxla-cli --target-dir "${CYXLA_CARGO_TARGET_DIR}"
    # By itself: cargo does not optimize across crates what is a Rust library as well.
    COMMAND ${CYXLA_CARGO} rustc --profile ${profile} --locked --package libcyxla --lib
            --crate-type cdylib,staticlib --target-dir "${CYXLA_CARGO_TARGET_DIR}"
    COMMAND ${CMAKE_COMMAND} -E make_directory "${lib}"
    COMMAND ${CMAKE_COMMAND} -E copy_if_different "${folder}/libcyxla.so" "${lib}/${full_name}"
    COMMAND ${CMAKE_COMMAND} -E copy_if_different "${folder}/libcyxla.a" "${lib}/libcyxla.a"
    COMMAND ${CMAKE_COMMAND} -E copy_if_different "${folder}/cyxla" "${lib}/cyxla"
    COMMAND ${CMAKE_COMMAND} -E create_symlink "${full_name}" "${lib}/libcyxla.so.0"
    COMMAND ${CMAKE_COMMAND} -E create_symlink libcyxla.so.0 "${lib}/libcyxla.so"
    BYPRODUCTS "${lib}/${full_name}" "${lib}/libcyxla.so.0" "${lib}/libcyxla.so"
               "${lib}/libcyxla.a" "${lib}/cyxla"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    COMMENT "cargo builds libcyxla (${profile})"
    VERBATIM)

  add_library(cyxla::cyxla SHARED IMPORTED GLOBAL)
  set_target_properties(cyxla::cyxla PROPERTIES
    IMPORTED_LOCATION "${lib}/${full_name}"
    IMPORTED_SONAME libcyxla.so.0
    INTERFACE_INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}/include")
  add_dependencies(cyxla::cyxla cyxla_cargo)

  add_library(cyxla::cyxla_static STATIC IMPORTED GLOBAL)
  set_target_properties(cyxla::cyxla_static PROPERTIES
    IMPORTED_LOCATION "${lib}/libcyxla.a"
    INTERFACE_LINK_LIBRARIES "${CYXLA_SYSTEM_LIBRARIES}"
    INTERFACE_INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}/include")
  add_dependencies(cyxla::cyxla_static cyxla_cargo)
endfunction()
