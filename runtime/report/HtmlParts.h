// What all pages share: text, rows of facts, the frame with its style, the data that scripts draw.
// A page is one file: nothing in it is fetched from elsewhere, and its policy forbids that.
#ifndef GC_RUNTIME_REPORT_HTMLPARTS_H
#define GC_RUNTIME_REPORT_HTMLPARTS_H

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace gc::runtime {

/// Safe in text and in quoted attributes.
std::string escaped(std::string_view text);

/// Everything up to and with the heading; pageEnd closes it.
std::string pageBegin(std::string_view title);
std::string pageEnd();

/// A row of a table of facts: a name and its value.
std::string factRow(std::string_view name, std::string_view value);
/// Such rows as a table.
std::string factTable(std::string_view rows);

/// The places that the script fills from `step` in the data: memory of the step, address over time,
/// lists.
std::string stepSection();

/// The one block of data of a page, and the scripts that draw it; comes last. Names in it may hold
/// whatever they like: `</script>`, quotes, bytes that are not UTF-8.
///   {"step": stepData(…), "charts": chartsJson(…)}, both as the page has them
std::string dataBlock(const nlohmann::ordered_json &data);

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_HTMLPARTS_H
