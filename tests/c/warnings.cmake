# All warnings are errors. Each compiler gets all that it has, less what speaks
# against the standard in use or the platform rather than the code.

if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  set(common -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-qual -Wcast-align
    -Wundef -Wwrite-strings -Wformat=2 -Wdouble-promotion -Wfloat-equal -Wredundant-decls -Wlogical-op
    -Wduplicated-cond -Wduplicated-branches -Wnull-dereference -Wmissing-declarations -Wswitch-enum)
  set(c_only -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wbad-function-cast
    -Wjump-misses-init -Wc++-compat)
  set(cxx_only -Wold-style-cast -Wuseless-cast -Wzero-as-null-pointer-constant -Wnon-virtual-dtor
    -Wextra-semi -Weffc++)
else()
  set(common -Weverything -Wno-padded -Wno-declaration-after-statement -Wno-disabled-macro-expansion
    -Wno-documentation-unknown-command) # the header's own @threads and @blocks
  set(c_only "")
  set(cxx_only -Wno-c++98-compat -Wno-c++98-compat-pedantic -Wno-c++98-c++11-compat)
endif()

set(CYXLA_HEADER_WARNINGS_C -Werror ${common} ${c_only})
set(CYXLA_HEADER_WARNINGS_CXX -Werror ${common} ${cxx_only})

# The tests are C alone, declare variables where they begin to matter, and compare
# whatever a function returns as a number.
set(CYXLA_TEST_WARNINGS -Werror ${common} ${c_only})
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  list(REMOVE_ITEM CYXLA_TEST_WARNINGS -Wc++-compat -Wjump-misses-init -Wbad-function-cast)
endif()
