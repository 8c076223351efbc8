# kernels/cuda: with nvcc where TROUPE_WITH_CUDA says so, else one file that answers
# "built without CUDA".

if(TROUPE_WITH_CUDA)
  if(NOT CMAKE_CUDA_COMPILER AND EXISTS /usr/local/cuda/bin/nvcc)
    set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
  endif()
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80 90)
  endif()
  enable_language(CUDA)
  # CMake 3.25 does not know that nvcc has C++20.
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  file(GLOB cuda_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/kernels/cuda/*.cu")
  target_sources(troupe_kernels PRIVATE ${cuda_sources})
  set_target_properties(troupe_kernels PROPERTIES
    CUDA_RUNTIME_LIBRARY Static
    CUDA_STANDARD 20
    CUDA_ARCHITECTURES "${CMAKE_CUDA_ARCHITECTURES}")
  # --fmad=false is nvcc's -ffp-contract=off.
  target_compile_options(troupe_kernels PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:--fmad=false;--expt-relaxed-constexpr;-Xcompiler=-Wall>")
  target_link_libraries(troupe_kernels PUBLIC Threads::Threads ${CMAKE_DL_LIBS} rt)
else()
  target_sources(troupe_kernels PRIVATE "${CMAKE_SOURCE_DIR}/kernels/cuda/cuda_absent.cpp")
endif()
