# troupe_room(name FOLDERS folders… [LINKS rooms…] [EXTERNAL targets…] [OPTIONS flags…]
#             [PRECOMPILE headers… | PRECOMPILED_BY room])
# The library of one room: the sources that stand in its folders, with our flags. A room
# may link only rooms that exist already, so no target links upward. A folder that no room
# names is found by tests/tidy.

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
# Below so many kB GCC does not collect its garbage. Units take up to 100 MB more, and three of
# four that were tried 8 to 20 % less CPU (docs/performance.md).
target_compile_options(troupe_flags INTERFACE
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:--param=ggc-min-heapsize=1000000>)
if(TROUPE_JOIN)
  # Of what is joined GCC takes no source for the main one, and warns of types that stand in a
  # namespace without a name.
  target_compile_options(troupe_flags INTERFACE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>)
endif()
target_include_directories(troupe_flags INTERFACE "${CMAKE_SOURCE_DIR}")
target_compile_options(troupe_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic>)
if(TROUPE_SANITIZE)
  # CAF's queues cast their sentinel to an element, which never is one; it is not read. Clang 14
  # marks a function before its first instruction, and cannot where that is a coroutine's.
  target_compile_options(troupe_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${TROUPE_SANITIZE} -fno-sanitize-recover=all -fno-sanitize=vptr -fno-omit-frame-pointer>
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-fno-sanitize=function>)
  target_link_options(troupe_flags INTERFACE -fsanitize=${TROUPE_SANITIZE})
endif()

# Headers of others, never ours, so that a change of ours rebuilds what includes it and no
# more. They hide an include that is missing: the builds of .ci/long under sanitizers have none.
function(troupe_precompile target)
  if(TROUPE_PRECOMPILE AND ARGN)
    if(ARGV1 STREQUAL REUSE_FROM)
      target_precompile_headers(${target} ${ARGN})
    else()
      target_precompile_headers(${target} PRIVATE ${ARGN})
    endif()
    # Lets ccache see through it.
    target_compile_options(${target} PRIVATE
      $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fpch-preprocess>)
  endif()
endfunction()

# Several sources as one: what they share is compiled once. Kernels are left as they stand
# (what they compute is held to bits), and so is who asks for another number at once.
function(troupe_join target)
  if(TROUPE_JOIN)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${TROUPE_JOIN})
  endif()
endfunction()

function(troupe_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "" "PRECOMPILED_BY"
                        "FOLDERS;LINKS;EXTERNAL;PRECOMPILE;OPTIONS")
  set(sources)
  foreach(folder IN LISTS room_FOLDERS)
    file(GLOB found CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${folder}/*.cpp")
    list(APPEND sources ${found})
  endforeach()
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
  if(room_PRECOMPILED_BY)
    # With other options the compiler takes it without a word.
    get_target_property(options troupe_${room_PRECOMPILED_BY} COMPILE_OPTIONS)
    string(REGEX REPLACE ";?[^;]*-fpch-preprocess[^;]*" "" options "${options}")
    if(NOT "${options}" STREQUAL "${room_OPTIONS}" AND (options OR room_OPTIONS))
      message(FATAL_ERROR "room '${name}' has not the options of '${room_PRECOMPILED_BY}'")
    endif()
    set(room_PRECOMPILE REUSE_FROM troupe_${room_PRECOMPILED_BY})
  endif()
  troupe_precompile(troupe_${name} ${room_PRECOMPILE})
  if(NOT name STREQUAL kernels)
    troupe_join(troupe_${name})
  endif()
endfunction()
