# troupe_room(name [FOLDER folder] [LINKS rooms…] [EXTERNAL targets…] [EXCLUDE regex]
#             [OPTIONS flags…])
# The library of one room: all sources below its folder, with our flags. A room may
# link only rooms that exist already, so no target links upward.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(TROUPE_CCACHE ccache)
if(TROUPE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${TROUPE_CCACHE}")
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${TROUPE_CCACHE}")
endif()

add_library(troupe_flags INTERFACE)
target_include_directories(troupe_flags INTERFACE "${CMAKE_SOURCE_DIR}")
target_compile_options(troupe_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic>)
if(TROUPE_SANITIZE)
  # CAF's queues cast their sentinel to an element, which never is one; it is not read.
  target_compile_options(troupe_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${TROUPE_SANITIZE} -fno-sanitize-recover=all -fno-sanitize=vptr -fno-omit-frame-pointer>)
  target_link_options(troupe_flags INTERFACE -fsanitize=${TROUPE_SANITIZE})
endif()

function(troupe_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "" "FOLDER;EXCLUDE" "LINKS;EXTERNAL;OPTIONS")
  if(NOT room_FOLDER)
    set(room_FOLDER "${name}")
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}"
       "${CMAKE_SOURCE_DIR}/${room_FOLDER}/*.cpp")
  if(room_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${room_EXCLUDE}")
  endif()
  list(TRANSFORM sources PREPEND "${CMAKE_SOURCE_DIR}/")
  add_library(troupe_${name} STATIC ${sources})
  target_link_libraries(troupe_${name} PUBLIC troupe_flags)
  foreach(other IN LISTS room_LINKS)
    if(NOT TARGET troupe_${other})
      message(FATAL_ERROR "room '${name}' links upward, to '${other}'")
    endif()
    target_link_libraries(troupe_${name} PUBLIC troupe_${other})
  endforeach()
  target_link_libraries(troupe_${name} PUBLIC ${room_EXTERNAL})
  target_compile_options(troupe_${name} PRIVATE ${room_OPTIONS})
endfunction()
