# The executable: actors/node and everything below it. Only torch_model.cpp and main.cpp
# need torch; troupe_config (no actors) and troupe_run are built and tested without it.

find_path(TROUPE_TOMLPP toml++/toml.h REQUIRED)
find_package(CLI11 REQUIRED)

set(runs "/actors/node/(run/.*|commands/(run|replay))\\.cpp$")
set(needs_torch "/actors/node/(torch_model|commands/bench|main)\\.cpp$")
file(GLOB_RECURSE config_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/actors/node/*.cpp")
list(REMOVE_ITEM config_sources "${CMAKE_SOURCE_DIR}/actors/node/wiring.cpp") # In the actors' room.
list(FILTER config_sources EXCLUDE REGEX "${needs_torch}")
set(run_sources ${config_sources})
list(FILTER run_sources INCLUDE REGEX "${runs}")
list(FILTER config_sources EXCLUDE REGEX "${runs}")

add_library(troupe_config STATIC ${config_sources})
target_link_libraries(troupe_config PUBLIC troupe_flags troupe_models troupe_policies troupe_kernels
                                           CLI11::CLI11 nlohmann_json::nlohmann_json
                                           SQLite::SQLite3)
target_compile_definitions(troupe_config PRIVATE TROUPE_VERSION="${PROJECT_VERSION}")

add_library(troupe_run STATIC ${run_sources})
target_link_libraries(troupe_run PUBLIC troupe_config troupe_actors)

if(TROUPE_WITH_TORCH)
  find_package(benchmark REQUIRED)
  add_library(troupe_node STATIC "${CMAKE_SOURCE_DIR}/actors/node/torch_model.cpp"
                                 "${CMAKE_SOURCE_DIR}/actors/node/commands/bench.cpp")
  target_link_libraries(troupe_node PUBLIC troupe_run troupe_torch
                                          PRIVATE benchmark::benchmark)
  if(EXISTS "${CMAKE_SOURCE_DIR}/actors/node/main.cpp")
    add_executable(troupe "${CMAKE_SOURCE_DIR}/actors/node/main.cpp")
    target_link_libraries(troupe PRIVATE troupe_node)
    set_target_properties(troupe PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
  endif()
endif()
