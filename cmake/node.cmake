# The executable: actors/node and everything below it. What needs no torch is a target
# of its own, troupe_config, so that it is built and tested without it.

find_path(TROUPE_TOMLPP toml++/toml.h REQUIRED)
find_package(CLI11 REQUIRED)

set(needs_torch "/actors/node/(run.*|commands/run.*|main)\\.cpp$")
file(GLOB_RECURSE config_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/actors/node/*.cpp")
list(REMOVE_ITEM config_sources "${CMAKE_SOURCE_DIR}/actors/node/wiring.cpp") # In the actors' room.
set(node_sources ${config_sources})
list(FILTER config_sources EXCLUDE REGEX "${needs_torch}")
list(FILTER node_sources INCLUDE REGEX "${needs_torch}")
list(REMOVE_ITEM node_sources "${CMAKE_SOURCE_DIR}/actors/node/main.cpp")

add_library(troupe_config STATIC ${config_sources})
target_link_libraries(troupe_config PUBLIC troupe_flags troupe_models troupe_policies troupe_kernels
                                           CLI11::CLI11 nlohmann_json::nlohmann_json
                                           SQLite::SQLite3)
target_compile_definitions(troupe_config PRIVATE TROUPE_VERSION="${PROJECT_VERSION}")

if(TROUPE_WITH_TORCH)
  add_library(troupe_node INTERFACE)
  if(node_sources)
    add_library(troupe_wiring STATIC ${node_sources})
    target_link_libraries(troupe_wiring PUBLIC troupe_config troupe_actors troupe_torch)
    target_link_libraries(troupe_node INTERFACE troupe_wiring)
  endif()
  target_link_libraries(troupe_node INTERFACE troupe_config troupe_actors troupe_torch)
  if(EXISTS "${CMAKE_SOURCE_DIR}/actors/node/main.cpp")
    add_executable(troupe "${CMAKE_SOURCE_DIR}/actors/node/main.cpp")
    target_link_libraries(troupe PRIVATE troupe_node)
    set_target_properties(troupe PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
  endif()
endif()
