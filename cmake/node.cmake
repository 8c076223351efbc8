# The executable: actors/node and everything below it.

file(GLOB_RECURSE node_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/actors/node/*.cpp")
list(REMOVE_ITEM node_sources "${CMAKE_SOURCE_DIR}/actors/node/main.cpp")
if(node_sources AND TROUPE_WITH_TORCH)
  find_path(TROUPE_TOMLPP toml++/toml.h REQUIRED)
  find_package(CLI11 REQUIRED)
  add_library(troupe_node STATIC ${node_sources})
  target_link_libraries(troupe_node PUBLIC troupe_flags troupe_actors troupe_torch CLI11::CLI11
                                           nlohmann_json::nlohmann_json)
  if(EXISTS "${CMAKE_SOURCE_DIR}/actors/node/main.cpp")
    add_executable(troupe "${CMAKE_SOURCE_DIR}/actors/node/main.cpp")
    target_link_libraries(troupe PRIVATE troupe_node)
    set_target_properties(troupe PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
  endif()
endif()
