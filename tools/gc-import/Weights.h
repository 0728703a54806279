// The tensors beside a graph: raw bytes in the archive, and where a view of them lies.
#ifndef GC_TOOLS_GC_IMPORT_WEIGHTS_H
#define GC_TOOLS_GC_IMPORT_WEIGHTS_H

#include "tools/gc-import/Archive.h"
#include "tools/gc-import/Constant.h"
#include "tools/gc-import/Head.h"

#include <vector>

namespace gc::runtime {
class SafetensorsFile;
}

namespace gc::importer {

class Weights {
public:
  /// Reads the tables of weights and constants of model `model` (its file's name without `.json`).
  static runtime::Result<Weights> open(Archive &archive, const std::string &model);

  /// A tensor by PyTorch's name, whole.
  runtime::Result<ConstantPtr> constant(const std::string &name) const;
  /// Writes these as f32 in PyTorch's names and layouts; some of them start anew.
  runtime::Status save(const std::string &path, const std::vector<std::string> &names,
                       const std::map<std::string, NewStart> &starts) const;

  /// Of weights that are the same tensor, the first one's name, by those of the others.
  std::map<std::string, std::string> tied() const;
  /// Writes the model's whole state_dict(), with the tensors of `trained` in place of the archive's
  /// and the others, as it has them: what load_state_dict(strict=True) takes.
  runtime::Status saveState(const std::string &path, const runtime::SafetensorsFile &trained) const;

private:
  explicit Weights(Archive &archive) : archive(archive) {}
  runtime::Result<const Payload *> find(const std::string &name) const;
  /// Numbers of a tensor, a piece at a time, in order.
  runtime::Status
  read(const std::string &name, const Payload &payload,
       const std::function<runtime::Status(const std::vector<double> &)> &take) const;

  Archive &archive;
  std::map<std::string, Payload> payloads;
};

} // namespace gc::importer

#endif // GC_TOOLS_GC_IMPORT_WEIGHTS_H
