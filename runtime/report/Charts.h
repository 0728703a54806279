// A chart of a page: curves over steps or seconds, with axes, units and marks, as data; the page's
// script draws it.
#ifndef GC_RUNTIME_REPORT_CHARTS_H
#define GC_RUNTIME_REPORT_CHARTS_H

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace gc::runtime {

struct ChartSeries {
  std::string name;
  std::vector<double> x, y; // as many of both; what is not finite leaves a gap
  bool points = false;      // a dot at each, for what is known at a few places only
};

/// A level across the chart: a budget, a prediction.
struct ChartLevel {
  std::string name;
  double y = 0;
};

/// The unit is "bytes", "s", "%" or any text; bytes and seconds are scaled as they need it.
struct ChartAxis {
  std::string label, unit;
};

struct Chart {
  std::string title;
  ChartAxis x, y;
  std::vector<ChartSeries> series;
  std::vector<ChartLevel> levels;
  bool fromZero = true; // else the axis begins near the lowest value
};

/// Of long curves the lowest and the highest in each of some thousand columns: what is drawn is the
/// same, and the page stays small.
ChartSeries thinned(const ChartSeries &series);

nlohmann::ordered_json chartsJson(const std::vector<Chart> &charts);
/// A place for each of these charts; `charts` in the data block holds them.
std::string chartElements(const std::vector<Chart> &charts);

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_CHARTS_H
