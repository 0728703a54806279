#include "tools/flags/OptionTable.h"

#include <CLI/CLI.hpp>

/// Of `TEXT:{sgd,adam}`, as CLI11 describes a value that is one of some, and of `tiny|small`, as
/// gc-gen does.
static std::vector<std::string> choicesOf(const std::string &type) {
  size_t open = type.find('{'), close = type.find('}', open);
  if (open != std::string::npos && close != std::string::npos)
    return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
  return type.find('|') == std::string::npos ? std::vector<std::string>()
                                             : CLI::detail::split(type, '|');
}

static OptionRow rowOf(const CLI::Option &option) {
  OptionRow row;
  for (const std::string &name : option.get_lnames())
    row.names.push_back("--" + name);
  for (const std::string &name : option.get_snames())
    row.names.push_back("-" + name);
  row.group = option.get_group();
  row.text = option.get_description();
  row.usual = option.get_default_str();
  if (option.get_expected_min() == 0)
    return row; // a flag
  row.choices = choicesOf(option.get_type_name());
  if (!row.choices.empty()) {
    for (const std::string &choice : row.choices)
      row.valueName += (row.valueName.empty() ? "" : "|") + choice;
    return row;
  }
  row.valueName = option.get_type_name().substr(0, option.get_type_name().find(':'));
  if (row.valueName == "TEXT" || row.valueName.empty())
    row.valueName = "VALUE";
  if (row.valueName == "INT" || row.valueName == "UINT" || row.valueName == "FLOAT")
    row.valueName = "N";
  return row;
}

CommandTable tableOf(const CLI::App &app) {
  CommandTable table{app.get_name(), app.get_description(), app.get_footer(), {}, {}, {}};
  for (const CLI::Option *option : app.get_options())
    if (option->get_positional())
      table.positionals.push_back(option->get_name(true));
    else
      table.options.push_back(rowOf(*option));
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    table.commands.push_back(tableOf(*command));
  return table;
}
