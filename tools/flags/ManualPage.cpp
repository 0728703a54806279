#include "tools/flags/ManualPage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace {

/// As roff prints it unchanged: no escapes, no requests, hyphens that can be copied.
std::string roff(const std::string &text) {
  std::string result;
  bool begins = true;
  for (char c : text) {
    if (begins && (c == '.' || c == '\''))
      result += "\\&";
    result += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
    begins = c == '\n';
  }
  return result;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string optionText(const OptionRow &row) {
  std::string names;
  for (const std::string &name : row.names) {
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff(name));
    if (!row.valueName.empty())
      names += fmt::format("{}\\fI{}\\fR", name.starts_with("--") ? "=" : " ", roff(row.valueName));
  }
  std::string usual = row.usual.empty() ? "" : fmt::format(" (default: {})", row.usual);
  return fmt::format(".TP\n{}\n{}\n", names, roff(row.text + usual));
}

/// Groups in the order in which they first come.
std::string optionsText(const CommandTable &table) {
  std::vector<std::string> groups;
  for (const OptionRow &row : table.options)
    if (std::find(groups.begin(), groups.end(), row.group) == groups.end())
      groups.push_back(row.group);
  std::string text;
  for (const std::string &group : groups) {
    text += fmt::format(".SS \"{}\"\n", roff(group));
    for (const OptionRow &row : table.options)
      if (row.group == group)
        text += optionText(row);
  }
  return text;
}

} // namespace

std::string manualPage(const CommandTable &table, const std::string &version) {
  // `gc-run MODEL.mlir|PLAN: trains a network`: usage, then what it does.
  std::string usage = table.name, summary = table.summary;
  size_t colon = summary.find(": ");
  if (summary.starts_with(table.name) && colon != std::string::npos) {
    usage = summary.substr(0, colon);
    summary = summary.substr(colon + 2);
  } else {
    usage += table.commands.empty() ? "" : " NETWORK";
    for (const std::string &positional : table.positionals)
      usage += " " + positional;
  }
  std::string text =
      fmt::format(".TH {} 1 \"\" \"gc {}\" \"User Commands\"\n", upper(table.name), version);
  text += fmt::format(".SH NAME\n{} \\- {}\n", roff(table.name), roff(summary));
  text += fmt::format(".SH SYNOPSIS\n\\fB{}\\fR{} [\\fIOPTIONS\\fR]\n", roff(table.name),
                      roff(usage.substr(table.name.size())));
  text += ".SH OPTIONS\n" + optionsText(table);
  for (const CommandTable &command : table.commands)
    text += fmt::format(".SH \"{} {}\"\n{}.\n{}", upper(table.name), upper(command.name),
                        roff(command.summary), optionsText(command));
  if (!table.footer.empty())
    text += ".SH \"EXAMPLES AND EXIT CODES\"\n.nf\n" + roff(table.footer) + "\n.fi\n";
  return text;
}
