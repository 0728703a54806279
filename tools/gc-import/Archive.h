// The zip that torch.export.save writes, read without trusting it: entries stay inside of it, none
// is larger than the file, and nothing is ever written to where a name in it points. Nothing is
// unpickled: an entry is text or the raw bytes of a tensor.
#ifndef GC_TOOLS_GC_IMPORT_ARCHIVE_H
#define GC_TOOLS_GC_IMPORT_ARCHIVE_H

#include "runtime/Error.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

struct zip;

namespace gc::importer {

class Archive {
public:
  /// Fails (bad input) unless the file is a whole zip whose names and sizes are possible and which
  /// torch.export.save may have written.
  static runtime::Result<Archive> open(const std::string &path);

  Archive(Archive &&) noexcept;
  Archive &operator=(Archive &&) = delete;
  ~Archive();

  const std::string &path() const { return file; }
  /// `name` is below the archive's own folder: `the model.json of models`.
  bool has(const std::string &name) const { return entries.count(name) != 0; }
  uint64_t sizeOf(const std::string &name) const { return entries.at(name).bytes; }

  /// A whole text of at most `most` bytes.
  runtime::Result<std::string> readText(const std::string &name, uint64_t most);
  /// Gives the bytes of an entry, which must have exactly `bytes` of them, in pieces. Fails (bad
  /// input) where the entry is damaged.
  runtime::Status readBytes(const std::string &name, uint64_t bytes,
                            const std::function<runtime::Status(std::string_view)> &take);

private:
  struct Entry {
    uint64_t index = 0, bytes = 0;
    bool stored = false; // not compressed
  };

  Archive() = default;
  runtime::Status addEntry(uint64_t index, uint64_t fileBytes);
  runtime::Error bad(const std::string &what) const;
  runtime::Status read(const std::string &name, const Entry &entry,
                       const std::function<runtime::Status(std::string_view)> &take);

  std::string file, root;
  zip *handle = nullptr;
  std::map<std::string, Entry> entries; // by the name below the root
  uint64_t packed = 0;                  // bytes of all entries, as they lie in the file
};

} // namespace gc::importer

#endif // GC_TOOLS_GC_IMPORT_ARCHIVE_H
