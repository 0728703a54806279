// A model as it is where nothing is dropped.
#ifndef GC_TOOLS_GC_RUN_WITHOUTDROPOUT_H
#define GC_TOOLS_GC_RUN_WITHOUTDROPOUT_H

#include "runtime/Error.h"

#include <string>

/// The text of the same model without its dropouts; as it is where it has none. Text that is no
/// model is left for the compiler to tell of.
gc::runtime::Result<std::string> withoutDropout(const std::string &text);

#endif // GC_TOOLS_GC_RUN_WITHOUTDROPOUT_H
