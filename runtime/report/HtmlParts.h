// What the pages share: text, rows, colours, and the arena as a picture.
#ifndef GC_RUNTIME_REPORT_HTMLPARTS_H
#define GC_RUNTIME_REPORT_HTMLPARTS_H

#include <string>
#include <string_view>

namespace gc::plan {
struct Plan;
}

namespace gc::runtime {

/// Safe in text and in quoted attributes.
std::string escaped(std::string_view text);

/// Everything up to and with the heading; pageEnd closes it. One file, nothing from elsewhere.
std::string pageBegin(std::string_view title);
std::string pageEnd();

/// A row of a table of facts: a name and its value.
std::string factRow(std::string_view name, std::string_view value);

/// Of a kind of buffer, by its name ("activation"); grey for what is unknown.
const char *kindColour(std::string_view kind);
/// A coloured square and the text.
std::string legendEntry(const char *colour, std::string_view text);

/// One rectangle for each buffer: commands to the right, arena offsets upwards; hover for the name.
std::string arenaChart(const plan::Plan &plan);

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_HTMLPARTS_H
