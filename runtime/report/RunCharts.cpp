#include "runtime/report/RunCharts.h"

#include <fmt/format.h>

#include <string_view>

namespace gc::runtime {

static const ChartAxis kSteps = {"step", ""}, kSeconds = {"time of training", "s"};

/// Steps are counted over all of a training: a resumed run goes on where the one before ended.
static double firstStep(const TrainingReport &r) { return static_cast<double>(r.stepsBefore) + 1; }

template <class Number>
static ChartSeries overSteps(const char *name, const std::vector<Number> &values, double first) {
  ChartSeries series;
  series.name = name;
  for (size_t i = 0; i < values.size(); ++i) {
    series.x.push_back(first + static_cast<double>(i));
    series.y.push_back(values[i]);
  }
  return series;
}

static ChartSeries dots(const char *name) {
  ChartSeries series;
  series.name = name;
  series.points = true;
  return series;
}

static Chart lossChart(const TrainingReport &r) {
  Chart chart{"Loss", kSteps, {"loss", ""}, {overSteps("training", r.loss, firstStep(r))}, {}};
  for (auto [name, evaluations] :
       {std::pair("validation", &r.validations), std::pair("test", &r.evaluations)}) {
    ChartSeries series = dots(name);
    for (const EvaluationReport &e : *evaluations) {
      series.x.push_back(static_cast<double>(e.step));
      series.y.push_back(e.loss);
    }
    if (!series.x.empty())
      chart.series.push_back(std::move(series));
  }
  return chart;
}

static Chart accuracyChart(const TrainingReport &r) {
  Chart chart{"Accuracy", kSteps, {"accuracy", "%"}, {}, {}};
  ChartSeries validation = dots("validation"), test = dots("test"),
              training = dots("training, last epoch");
  for (auto [series, evaluations] :
       {std::pair(&validation, &r.validations), std::pair(&test, &r.evaluations)})
    for (const EvaluationReport &e : *evaluations)
      if (e.accuracy) {
        series->x.push_back(static_cast<double>(e.step));
        series->y.push_back(100 * *e.accuracy);
      }
  if (r.accuracy && !r.loss.empty()) {
    training.x.push_back(firstStep(r) + static_cast<double>(r.loss.size()) - 1);
    training.y.push_back(100 * *r.accuracy);
  }
  for (ChartSeries *series : {&validation, &test, &training})
    if (!series->x.empty())
      chart.series.push_back(std::move(*series));
  return chart;
}

/// Of the optimizer; parameters may have a multiple of it.
static Chart rateChart(const TrainingReport &r) {
  Chart chart{"Learning rate", kSteps, {"learning rate", ""}, {}, {}};
  if (r.learningRate.empty())
    return chart;
  chart.series.push_back(overSteps("each step", r.learningRate, firstStep(r)));
  return chart;
}

static Chart throughputChart(const TrainingReport &r) {
  Chart chart{"Throughput", kSteps, {"samples per second", ""}, {}, {}};
  ChartSeries series = overSteps("each step", r.stepSeconds, firstStep(r));
  for (double &seconds : series.y)
    seconds = seconds > 0 ? static_cast<double>(r.batch) / seconds : 0;
  if (!series.x.empty()) {
    chart.series.push_back(std::move(series));
    chart.levels.push_back({"median step", r.samplesPerSecond()});
  }
  return chart;
}

static Chart stepTimeChart(const TrainingReport &r) {
  Chart chart{"Time of a step", kSteps, {"time of a step", "s"}, {}, {}};
  if (r.stepSeconds.empty())
    return chart;
  chart.series.push_back(overSteps("measured", r.stepSeconds, firstStep(r)));
  if (r.prediction.stepSeconds)
    chart.levels.push_back({"predicted", *r.prediction.stepSeconds});
  return chart;
}

static Chart memoryChart(const TrainingReport &r) {
  Chart chart{"Memory of the process", kSeconds, {"resident memory", "bytes"}, {}, {}};
  ChartSeries series;
  series.name = "resident";
  for (const MonitorSample &sample : r.monitor.samples) {
    series.x.push_back(sample.seconds);
    series.y.push_back(static_cast<double>(sample.memoryBytes));
  }
  if (series.x.empty())
    return chart;
  chart.series.push_back(std::move(series));
  const MemoryMeasurement &m = r.memory.measured;
  if (!r.memory.device && m.rssBeforeBytes > 0) {
    chart.levels.push_back({"before the arena", static_cast<double>(m.rssBeforeBytes)});
    chart.levels.push_back(
        {"predicted with the arena", static_cast<double>(m.rssBeforeBytes + r.memory.arenaBytes)});
  }
  return chart;
}

static Chart utilizationChart(const TrainingReport &r) {
  Chart chart{"Utilization of the CPU", kSeconds, {"cores kept busy", ""}, {}, {}};
  ChartSeries series;
  series.name = "cores";
  for (const MonitorSample &sample : r.monitor.samples) {
    series.x.push_back(sample.seconds);
    series.y.push_back(sample.cpus);
  }
  if (series.x.empty())
    return chart;
  chart.series.push_back(std::move(series));
  chart.levels.push_back({"mean", r.monitor.cpusMean});
  return chart;
}

std::vector<Chart> nvmlCharts(const MonitorSummary &monitor) {
  std::vector<Chart> charts;
  if (!monitor.device)
    return charts;
  for (size_t i = 0; i < kDeviceQuantities; ++i) {
    const DeviceQuantityName &quantity = kDeviceQuantityNames[i];
    ChartSeries series;
    series.name = quantity.label;
    size_t count = std::min(monitor.samples.size(), monitor.device->samples.size());
    for (size_t at = 0; at < count; ++at)
      if (const std::optional<double> &value = monitor.device->samples[at][i]) {
        series.x.push_back(monitor.samples[at].seconds);
        series.y.push_back(*value);
      }
    // A quantity that was seen once is in the table.
    if (series.x.size() >= 2)
      charts.push_back({fmt::format("Device: {}", quantity.label),
                        kSeconds,
                        {quantity.label, quantity.unit},
                        {std::move(series)},
                        {}});
  }
  return charts;
}

std::vector<Chart> runCharts(const TrainingReport &report) {
  std::vector<Chart> charts;
  for (Chart &chart : std::vector<Chart>{
           lossChart(report), accuracyChart(report), rateChart(report), throughputChart(report),
           stepTimeChart(report), memoryChart(report), utilizationChart(report)})
    if (!chart.series.empty() && !chart.series.front().x.empty())
      charts.push_back(std::move(chart));
  for (Chart &chart : nvmlCharts(report.monitor))
    charts.push_back(std::move(chart));
  return charts;
}

} // namespace gc::runtime
