// Whether everything that will be written can be: asked before hours of work, not after them.
#ifndef GC_RUNTIME_PROCESS_OUTPUTCHECK_H
#define GC_RUNTIME_PROCESS_OUTPUTCHECK_H

#include "runtime/Error.h"

#include <string>
#include <vector>

namespace gc::runtime {

/// A file or directory as the user gave it.
struct NamedPath {
  std::string flag; // `--save`, `-o`; what a positional argument is: `the model`
  std::string path; // empty: not asked for
  enum class Kind { File, Directory } kind = Kind::File;
  std::vector<std::string> files = {}; // of a directory: what is written or read in it
};

/// Fails (bad input) where an output cannot be written, where two outputs are one file (through
/// links too, standard output and error included), or where an output is one of the inputs. Changes
/// nothing and leaves nothing behind; directories that are missing may be made later.
Status checkOutputs(const std::vector<NamedPath> &outputs, const std::vector<NamedPath> &inputs);

/// Whether two names lead to one file or directory, existing or not.
bool isSamePlace(const std::string &a, const std::string &b);

} // namespace gc::runtime

#endif // GC_RUNTIME_PROCESS_OUTPUTCHECK_H
