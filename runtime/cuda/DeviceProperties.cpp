#include "runtime/cuda/DeviceProperties.h"

#include "runtime/plan/CudaVersions.h"

#include <nlohmann/json.hpp>

namespace gc::runtime::cuda {

static const std::pair<const char *, CUdevice_attribute> kAttributes[] = {
    {"max_threads_per_block", CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {"max_block_dim_x", CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X},
    {"max_block_dim_y", CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y},
    {"max_block_dim_z", CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z},
    {"max_grid_dim_x", CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X},
    {"max_grid_dim_y", CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y},
    {"max_grid_dim_z", CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z},
    {"max_shared_memory_per_block", CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
    {"max_shared_memory_per_block_optin", CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
    {"reserved_shared_memory_per_block", CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK},
    {"max_shared_memory_per_multiprocessor",
     CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
    {"total_constant_memory", CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY},
    {"warp_size", CU_DEVICE_ATTRIBUTE_WARP_SIZE},
    {"max_registers_per_block", CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
    {"max_registers_per_multiprocessor", CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR},
    {"max_threads_per_multiprocessor", CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
    {"max_blocks_per_multiprocessor", CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR},
    {"multiprocessor_count", CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
    {"clock_rate_khz", CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
    {"memory_clock_rate_khz", CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE},
    {"global_memory_bus_width", CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH},
    {"l2_cache_size", CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
    {"integrated", CU_DEVICE_ATTRIBUTE_INTEGRATED},
    {"pci_bus_id", CU_DEVICE_ATTRIBUTE_PCI_BUS_ID},
    {"pci_device_id", CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID},
    {"tcc_driver", CU_DEVICE_ATTRIBUTE_TCC_DRIVER},
    {"cooperative_launch", CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH},
};

Result<std::string> propertiesJson(const Context &context) {
  const Driver &d = context.driver();
  size_t total = 0;
  GC_CUDA(d, cuDeviceTotalMem, "", &total, context.device());
  nlohmann::ordered_json attributes;
  for (auto [name, attribute] : kAttributes) {
    int value = 0;
    GC_CUDA(d, cuDeviceGetAttribute, name, &value, attribute, context.device());
    attributes[name] = value;
  }
  nlohmann::ordered_json all = {
      {"device", "cuda"},
      {"ordinal", context.ordinal()},
      {"name", context.name()},
      {"uuid", context.watched().uuid},
      {"compute_capability", std::to_string(context.architecture() / 10) + "." +
                                 std::to_string(context.architecture() % 10)},
      {"driver_version", plan::versionText(context.driverVersion())},
      {"total_memory_bytes", total},
      {"attributes", attributes}};
  return all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace gc::runtime::cuda
