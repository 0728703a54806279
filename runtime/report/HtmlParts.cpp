#include "runtime/report/HtmlParts.h"

#include "runtime/report/PageFiles.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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
    case '\'':
      out += "&#39;";
      break;
    default:
      out += c;
    }
  return out;
}

std::string pageBegin(std::string_view title) {
  return fmt::format("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<meta name=\"color-scheme\" content=\"light dark\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                     "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
                     "<title>{0}</title>\n<style>\n{1}</style></head><body>\n<h1>{0}</h1>\n",
                     escaped(title), pageStyle);
}

std::string pageEnd() { return "</body></html>\n"; }

std::string factRow(std::string_view name, std::string_view value) {
  return fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", name, escaped(value));
}

std::string factTable(std::string_view rows) {
  return fmt::format("<table class=\"facts\">\n{}</table>\n", rows);
}

std::string stepSection() { return std::string(pageStep); }

/// As JSON inside of HTML: there is no tag in it, whatever the names are.
static std::string withoutTags(const nlohmann::ordered_json &data) {
  std::string text = data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size());
  for (char c : text)
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  return out;
}

std::string dataBlock(const nlohmann::ordered_json &data) {
  return fmt::format("<script type=\"application/json\" id=\"data\">{}</script>\n"
                     "<script>\n{}</script>\n",
                     withoutTags(data), pageScript);
}

} // namespace gc::runtime
