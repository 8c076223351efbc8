# models/torch twice: as a library, for tests, and as the module that the executable loads
# when there is something to train. The module has a copy of the rooms below in it and
# shows one name; so whoever asks for help or for a report waits for none of torch's
# libraries.

find_package(LibTorch REQUIRED)
troupe_room(torch FOLDERS models/torch models/torch/language LINKS core kernels models
            EXTERNAL LibTorch::LibTorch ${CMAKE_DL_LIBS}
            PRECOMPILE <ATen/ATen.h> OPTIONS -ffp-contract=off)
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/one_name.map"
     CONTENT "{ global: troupe_torch; local: *; };\n")
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/empty.cpp" CONTENT "")
add_library(troupe_torch_module MODULE "${CMAKE_BINARY_DIR}/empty.cpp")
target_link_libraries(troupe_torch_module PRIVATE troupe_torch)
target_link_options(troupe_torch_module PRIVATE
  -Wl,--undefined=troupe_torch "-Wl,--version-script=${CMAKE_BINARY_DIR}/one_name.map"
  -Wl,--no-undefined)
set_target_properties(troupe_torch_module PROPERTIES
  OUTPUT_NAME troupe_torch LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
