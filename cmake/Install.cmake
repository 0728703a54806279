# What `cmake --install` and `cpack` put where:
#   bin/       the tools, and gc-cudnn-plan, which gc-compile starts beside itself
#   lib/gc/    what tools load by themselves: the cuda device, the compile-only driver
#   lib*/      static libraries and `find_package(gc)`: gc::compiler (IR to a plan), gc::trainer (a plan trains),
#              gc::api (a model in C++, trained by a loop of your own)
#   include/gc the headers of these, below the same paths as in this repository (tools/api as api)
#   share/gc   the small networks that are written by hand
#   share/     manual pages, and completion for bash, zsh and fish
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(programs gc-gen gc-import gc-opt gc-compile gc-run gc-diff gc-pack gc-plan)
if(TARGET gc-cudnn-plan)
  list(APPEND programs gc-cudnn-plan)
endif()
install(TARGETS ${programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# Not CMAKE_INSTALL_LIBDIR: tools look in ../lib/gc of themselves.
install(TARGETS gc-device-cuda LIBRARY DESTINATION lib/gc)
install(TARGETS gc_cuda_compile_only LIBRARY DESTINATION lib/gc/compile-only)

set(libraries
  gc_plan gc_hal_ranges gc_hal gc_cpu_library gc_allocation gc_session gc_weights gc_data gc_monitor
  gc_nvml gc_process gc_report gc_trainer
  gc_mlir gc_dialect gc_algorithms gc_passes gc_lowering gc_kernel_language gc_target gc_cpu_kernels
  gc_cuda_devices gc_cuda_ptx gc_cuda_grids gc_cuda_library gc_compiler gc_models gc_api)
foreach(library IN LISTS libraries)
  string(REGEX REPLACE "^gc_" "" name ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
endforeach()
foreach(library gc_compiler gc_trainer gc_api)
  target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/gc>)
endforeach()
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/gc)
install(TARGETS ${libraries} EXPORT gcTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT gcTargets NAMESPACE gc:: DESTINATION ${package})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/gcConfig.cmake.in
  ${CMAKE_BINARY_DIR}/gcConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/gcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/gcConfig.cmake ${CMAKE_BINARY_DIR}/gcConfigVersion.cmake
        DESTINATION ${package})
install(FILES compiler/Compile.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gc/compiler)
install(FILES passes/FreezeWish.h passes/OptimizerSettings.h passes/PrecisionWish.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gc/passes)
install(FILES tools/api/ModelBuilder.h tools/api/Session.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gc/api)
install(DIRECTORY runtime DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gc FILES_MATCHING PATTERN "*.h"
        PATTERN "conformance" EXCLUDE)
install(FILES ${CMAKE_BINARY_DIR}/runtime/plan/Plan_generated.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gc/runtime/plan)
install(FILES models/mlp.mlir models/convnet.mlir DESTINATION ${CMAKE_INSTALL_DATADIR}/gc/models)
foreach(folder man/man1 bash-completion/completions zsh/site-functions fish/vendor_completions.d)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/share/${folder}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder})
endforeach()
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# `cpack` in the build folder makes a Debian package of it; CONTRIBUTING.md tells how to try it on a clean
# Debian 12.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME gc-compiler)
set(CPACK_PACKAGE_CONTACT "The maintainers of gc")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Ahead-of-time graph compiler for training")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
# What the programs link, by dpkg-shlibdeps; MLIR's libraries are in a folder of their own. It does not
# name libllvm22 there, which libmlir-22 brings.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${LLVM_LIBRARY_DIRS})
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libllvm22")
# The -dev packages are for programs that use find_package(gc).
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "dataset-fashion-mnist, libmlir-22-dev, liblld-22-dev, libdnnl-dev, \
libflatbuffers-dev, libfmt-dev, nlohmann-json3-dev, zlib1g-dev, libjpeg62-turbo-dev, libpng-dev, libzip-dev")
include(CPack)
