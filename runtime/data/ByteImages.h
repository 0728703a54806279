// Images of bytes as the classic data sets come, read whole into memory (Fashion-MNIST: 47 MB).
#ifndef GC_RUNTIME_DATA_BYTEIMAGES_H
#define GC_RUNTIME_DATA_BYTEIMAGES_H

#include "runtime/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gc::runtime {

struct ByteImages {
  std::string name; // of the file or directory, for messages
  int64_t count = 0, height = 0, width = 0, channels = 0;
  std::vector<uint8_t> pixels; // N, H, W, C
  std::vector<uint8_t> labels; // N
};

/// `PREFIX-images-idx3-ubyte` and `PREFIX-labels-idx1-ubyte`, plain or gzipped (told by content,
/// the name may end in .gz). Fails (bad input) on anything but two whole files that fit each other.
Result<ByteImages> readIdxSplit(const std::string &directory, const std::string &prefix);

enum class CifarKind { Cifar10, Cifar100 };
/// The binary version: data_batch_{1..5}.bin or test_batch.bin; of CIFAR-100, whose fine labels are
/// taken, train.bin or test.bin.
Result<ByteImages> readCifar(CifarKind kind, const std::string &directory, bool train);

/// The files that readIdxSplit and readCifar would read, as far as they exist.
std::vector<std::string> idxFiles(const std::string &directory);
std::vector<std::string> cifarFiles(CifarKind kind, const std::string &directory);

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_BYTEIMAGES_H
