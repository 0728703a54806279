#include "runtime/report/Charts.h"

#include "runtime/report/HtmlParts.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace gc::runtime {

using json = nlohmann::ordered_json;

ChartSeries thinned(const ChartSeries &series) {
  constexpr size_t columns = 1000;
  size_t count = std::min(series.x.size(), series.y.size());
  if (count <= 2 * columns)
    return series;
  ChartSeries result;
  result.name = series.name;
  result.points = series.points;
  auto take = [&](size_t i) {
    result.x.push_back(series.x[i]);
    result.y.push_back(series.y[i]);
  };
  for (size_t column = 0; column < columns; ++column) {
    size_t begin = column * count / columns, end = (column + 1) * count / columns;
    size_t low = begin, high = begin;
    for (size_t i = begin; i < end; ++i) {
      if (!std::isfinite(series.y[i])) { // a gap is seen, too
        low = high = i;
        break;
      }
      low = series.y[i] < series.y[low] ? i : low;
      high = series.y[i] > series.y[high] ? i : high;
    }
    take(std::min(low, high));
    if (low != high)
      take(std::max(low, high));
  }
  return result;
}

/// Six digits are more than a screen shows.
static json numbers(const std::vector<double> &values) {
  json list = json::array();
  for (double value : values)
    if (!std::isfinite(value))
      list.push_back(nullptr);
    else if (value == std::floor(value) && std::abs(value) < 1e15)
      list.push_back(static_cast<int64_t>(value));
    else
      list.push_back(std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr));
  return list;
}

static json axisJson(const ChartAxis &axis) { return {{"label", axis.label}, {"unit", axis.unit}}; }

json chartsJson(const std::vector<Chart> &charts) {
  json list = json::array();
  for (const Chart &chart : charts) {
    json series = json::array(), levels = json::array();
    for (const ChartSeries &full : chart.series) {
      ChartSeries one = thinned(full);
      series.push_back({{"name", one.name},
                        {"points", one.points},
                        {"x", numbers(one.x)},
                        {"y", numbers(one.y)}});
    }
    for (const ChartLevel &level : chart.levels)
      levels.push_back({{"name", level.name}, {"y", level.y}});
    list.push_back({{"title", chart.title},
                    {"x", axisJson(chart.x)},
                    {"y", axisJson(chart.y)},
                    {"fromZero", chart.fromZero},
                    {"series", series},
                    {"levels", levels}});
  }
  return list;
}

std::string chartElements(const std::vector<Chart> &charts) {
  std::string html = "<div class=\"charts\">\n";
  for (size_t i = 0; i < charts.size(); ++i)
    html += fmt::format("<figure class=\"chart\" data-chart=\"{}\"><figcaption>{}</figcaption>"
                        "<div class=\"plot\"><canvas tabindex=\"0\" role=\"img\"></canvas>"
                        "<div class=\"tip\" hidden></div></div><p class=\"legend\"></p></figure>\n",
                        i, escaped(charts[i].title));
  return html + "</div>\n";
}

} // namespace gc::runtime
