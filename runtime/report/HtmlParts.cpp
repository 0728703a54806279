#include "runtime/report/HtmlParts.h"

#include "runtime/plan/Plan_generated.h"
#include "runtime/report/Sizes.h"

#include <fmt/format.h>

#include <algorithm>

namespace gc::runtime {

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text)
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out += c;
    }
  return out;
}

std::string pageBegin(std::string_view title) {
  return fmt::format("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                     "<title>{0}</title>\n<style>"
                     "body{{font:15px sans-serif;max-width:1040px;margin:2em auto}}"
                     "th{{text-align:left;padding-right:2em;font-weight:normal;color:#555}}"
                     ".chart{{width:100%;border:1px solid #ccc}}"
                     ".axis{{font:12px sans-serif;fill:#555}}"
                     ".alive{{font-size:13px;border-collapse:collapse;width:100%}}"
                     ".alive td,.alive th{{padding:1px 8px 1px 0;vertical-align:top}}"
                     ".alive td:first-child{{word-break:break-all}}"
                     ".alive .bytes{{text-align:right;white-space:nowrap;padding-right:0}}"
                     ".side{{width:100%;table-layout:fixed}}"
                     ".side>tbody>tr>td{{vertical-align:top;width:50%;padding-right:24px}}"
                     "</style></head><body>\n<h1>{0}</h1>\n",
                     escaped(title));
}

std::string pageEnd() { return "</body></html>\n"; }

std::string factRow(std::string_view name, std::string_view value) {
  return fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", name, escaped(value));
}

static constexpr struct {
  const char *name, *colour;
} kinds[] = {{"parameter", "#4477aa"}, {"state", "#66ccee"},      {"optimizer state", "#aa3377"},
             {"gradient", "#ee6677"},  {"activation", "#228833"}, {"workspace", "#ccbb44"},
             {"input", "#bbbbbb"},     {"metric", "#000000"}}; // in the order of BufferKind

const char *kindColour(std::string_view kind) {
  for (const auto &known : kinds)
    if (kind == known.name)
      return known.colour;
  return "#888888";
}

std::string legendEntry(const char *colour, std::string_view text) {
  return fmt::format("<span style=\"color:{}\">&#9632;</span> {} &nbsp; ", colour, escaped(text));
}

std::string arenaChart(const plan::Plan &plan) {
  constexpr double width = 1000, height = 320;
  auto count = [](const plan::CommandList *list) -> int64_t {
    return list && list->commands() ? list->commands()->size() : 0;
  };
  double commands =
      static_cast<double>(std::max<int64_t>(1, count(plan.micro_batch()) + count(plan.step())));
  double arena = std::max<double>(1, static_cast<double>(plan.arena_bytes()));
  std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" class=\"chart\">\n", width, height);
  for (size_t i = 0; plan.buffers() && i < plan.buffers()->size(); ++i) {
    const plan::Buffer &buffer = *plan.buffers()->Get(i);
    if (buffer.evaluate() || buffer.part_of() >= 0)
      continue; // not of this step, or drawn with the buffer that it is a part of
    const auto &kind = kinds[std::min<size_t>(static_cast<size_t>(buffer.kind()), 7)];
    double left = std::clamp<double>(buffer.first_command(), 0, commands) / commands * width;
    double right = std::clamp<double>(buffer.last_command() + 1.0, 0, commands) / commands * width;
    double tall = static_cast<double>(buffer.bytes()) / arena * height;
    double top = height - static_cast<double>(buffer.offset()) / arena * height - tall;
    svg += fmt::format("<rect x=\"{:.2f}\" y=\"{:.3f}\" width=\"{:.2f}\" height=\"{:.3f}\" "
                       "fill=\"{}\"><title>{} ({}): {}, commands {} to {}</title></rect>\n",
                       left, top, std::max(0.0, right - left), tall, kind.colour,
                       escaped(buffer.name()->string_view()), kind.name, sizeText(buffer.bytes()),
                       buffer.first_command(), buffer.last_command());
  }
  svg += "</svg>\n<p>";
  for (const auto &kind : kinds)
    svg += legendEntry(kind.colour, kind.name);
  return svg + "</p>\n";
}

} // namespace gc::runtime
