// CMake wants at least one source before the first support file exists.
