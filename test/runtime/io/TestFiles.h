// A directory for a test's files, gone when the test ends.
#ifndef GC_TEST_RUNTIME_IO_TESTFILES_H
#define GC_TEST_RUNTIME_IO_TESTFILES_H

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <zlib.h>

struct TestDirectory {
  TestDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "gc-io-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~TestDirectory() { std::filesystem::remove_all(path); }
  std::string file(const std::string &name) const { return path + "/" + name; }
  std::string write(const std::string &name, const std::string &bytes) const {
    std::ofstream(file(name), std::ios::binary) << bytes;
    return file(name);
  }
  std::string read(const std::string &name) const {
    std::ifstream in(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  size_t entries() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path),
                                             std::filesystem::directory_iterator()));
  }
  std::string path;
};

/// Writes a file and the folders that it lies in.
inline void writeBelow(const TestDirectory &directory, const std::string &name,
                       const std::string &bytes) {
  std::filesystem::create_directories(std::filesystem::path(directory.file(name)).parent_path());
  directory.write(name, bytes);
}

inline std::string gzipped(const std::string &bytes) {
  z_stream stream = {};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// A safetensors file with any header.
inline std::string safetensorsBytes(const std::string &header, const std::string &data = "") {
  uint64_t length = header.size();
  std::string out(reinterpret_cast<const char *>(&length), 8);
  return out + header + data;
}

template <class T> std::string bytesOf(std::initializer_list<T> values) {
  return {reinterpret_cast<const char *>(values.begin()), values.size() * sizeof(T)};
}

#define EXPECT_CONTAINS(text, part)                                                                \
  EXPECT_NE(std::string(text).find(part), std::string::npos)                                       \
      << "'" << (text) << "' lacks '" << (part) << "'"

/// Bad input (exit code 2) whose message has the given part.
#define EXPECT_BAD_INPUT(result, part)                                                             \
  do {                                                                                             \
    const auto &resultOnce = (result);                                                             \
    ASSERT_FALSE(resultOnce.ok());                                                                 \
    EXPECT_EQ(resultOnce.error().exitCode(), 2);                                                   \
    EXPECT_CONTAINS(resultOnce.error().message, part);                                             \
  } while (false)

#endif // GC_TEST_RUNTIME_IO_TESTFILES_H
