# Finds LibTorch: the system's by default, the wheel's with -DTROUPE_TORCH=…/torch.
# The wheel's own package file is not used: without a device it needs architecture
# lists and then links the system's libraries beside its own headers.
# Target: LibTorch::LibTorch.

if(TROUPE_TORCH)
  set(places PATHS "${TROUPE_TORCH}" NO_DEFAULT_PATH)
else()
  set(places)
endif()
unset(LIBTORCH_INCLUDE_DIR CACHE)
unset(LIBTORCH_API_DIR CACHE)
unset(LIBTORCH_CPU CACHE)
unset(LIBTORCH_C10 CACHE)
unset(LIBTORCH_CUDA CACHE)
unset(LIBTORCH_C10_CUDA CACHE)
find_path(LIBTORCH_INCLUDE_DIR torch/script.h PATH_SUFFIXES include ${places})
find_path(LIBTORCH_API_DIR torch/torch.h
          PATH_SUFFIXES include/torch/csrc/api/include torch/csrc/api/include ${places})
find_library(LIBTORCH_CPU torch_cpu PATH_SUFFIXES lib ${places})
find_library(LIBTORCH_C10 c10 PATH_SUFFIXES lib ${places})
find_library(LIBTORCH_CUDA torch_cuda PATH_SUFFIXES lib ${places})
find_library(LIBTORCH_C10_CUDA c10_cuda PATH_SUFFIXES lib ${places})

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LIBTORCH_CPU LIBTORCH_C10 LIBTORCH_INCLUDE_DIR LIBTORCH_API_DIR
  REASON_FAILURE_MESSAGE "install libtorch-dev (Debian), or run ./dev setup [--torch wheel]")

if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  set_target_properties(LibTorch::LibTorch PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${LIBTORCH_INCLUDE_DIR};${LIBTORCH_API_DIR}")
  target_link_libraries(LibTorch::LibTorch INTERFACE "${LIBTORCH_CPU}" "${LIBTORCH_C10}")
  # The wheel brings these also where there is no device, and they want all of CUDA.
  if(TROUPE_WITH_CUDA AND LIBTORCH_CUDA AND LIBTORCH_C10_CUDA)
    target_link_options(LibTorch::LibTorch INTERFACE
      "SHELL:-Wl,--no-as-needed ${LIBTORCH_CUDA} ${LIBTORCH_C10_CUDA} -Wl,--as-needed")
  endif()
  if(TROUPE_TORCH)
    get_filename_component(site "${TROUPE_TORCH}" DIRECTORY)
    file(GLOB folders "${site}/nvidia/*/lib")
    foreach(folder IN LISTS folders ITEMS "${TROUPE_TORCH}/lib")
      target_link_options(LibTorch::LibTorch INTERFACE
        "SHELL:-Wl,-rpath,${folder} -Wl,-rpath-link,${folder}")
    endforeach()
    target_link_options(LibTorch::LibTorch INTERFACE -Wl,--allow-shlib-undefined)
  endif()
endif()
