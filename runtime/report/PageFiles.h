// The files of runtime/report/page, which CMake puts into the library.
#ifndef GC_RUNTIME_REPORT_PAGEFILES_H
#define GC_RUNTIME_REPORT_PAGEFILES_H

#include <string_view>

namespace gc::runtime {

extern const std::string_view pageStyle;  // page.css
extern const std::string_view pageStep;   // step.html
extern const std::string_view pageScript; // all scripts, in order

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_PAGEFILES_H
