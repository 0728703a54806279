// Lists on the command line: `a,b:0.5`.
#ifndef GC_RUNTIME_DATA_LISTTEXT_H
#define GC_RUNTIME_DATA_LISTTEXT_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gc::runtime {

/// The parts between separators, of which there is always one.
std::vector<std::string> splitText(std::string_view text, char separator);
/// A finite number, written as C does; nothing where the text is anything else.
std::optional<float> parseNumber(const std::string &text);

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_LISTTEXT_H
