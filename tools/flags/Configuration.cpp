#include "tools/flags/Configuration.h"

#include "runtime/process/Nearest.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <sstream>

using Json = nlohmann::ordered_json;

static bool isConfigurable(const CLI::Option *option) {
  return option->get_configurable() && !option->get_lnames().empty();
}

static bool isFlag(const CLI::Option *option) { return option->get_expected_min() == 0; }

std::vector<std::string> configurableNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options())
    if (isConfigurable(option))
      names.push_back(option->get_lnames().front());
  return names;
}

namespace {

/// CLI11's reader of TOML, which passes over what it does not understand; here that is an error.
class TomlReader : public CLI::ConfigTOML {
public:
  explicit TomlReader(const CLI::App &app) : app(app) {}

  std::vector<CLI::ConfigItem> from_config(std::istream &input) const override {
    std::stringstream text;
    std::string line;
    for (size_t number = 1; std::getline(input, line); ++number) {
      checkLine(line, number);
      text << line << "\n";
    }
    std::vector<CLI::ConfigItem> items;
    std::set<std::string> seen;
    for (CLI::ConfigItem &item : CLI::ConfigTOML::from_config(text)) {
      const CLI::Option *option = find(item);
      if (!seen.insert(item.name).second || item.inputs.size() != 1)
        throw CLI::ConfigError(fmt::format("--config: '{}' is given twice, or has more than one "
                                           "value; it takes one",
                                           item.name));
      if (!isLeftOut(option, item))
        items.push_back(item);
    }
    return items;
  }

private:
  /// Where a `#` begins a comment; the end where none does. CLI11 would cut a text in quotes there,
  /// too.
  static size_t endOf(const std::string &line) {
    char quote = 0;
    for (size_t i = 0; i < line.size(); ++i) {
      if (quote && line[i] == quote)
        quote = 0;
      else if (!quote && (line[i] == '"' || line[i] == '\''))
        quote = line[i];
      else if (!quote && line[i] == '#')
        return i;
      else if (quote && (line[i] == '#' || (quote == '"' && line[i] == '\\')))
        return std::string::npos;
    }
    return quote ? std::string::npos : line.size();
  }

  static void checkLine(const std::string &line, size_t number) {
    auto fail = [&](const char *what) {
      throw CLI::ConfigError(fmt::format("--config: line {}: {}", number, what));
    };
    size_t end = endOf(line);
    if (end == std::string::npos)
      fail("a text ends with the quote that it began with, and has neither '#' nor, in double "
           "quotes, '\\' in it");
    std::string content = CLI::detail::trim_copy(line.substr(0, end));
    if (content.empty())
      return;
    if (content.front() == '[')
      fail("there are no sections; write the names of flags as in --help, one a line");
    size_t equals = content.find('=');
    if (equals == std::string::npos || equals == 0 ||
        content.find_first_not_of(" \t", equals + 1) == std::string::npos)
      fail("expected NAME = VALUE, such as lr = 0.01, shuffle = true or data = \"fashion-mnist\"");
    if (content[content.find_first_not_of(" \t", equals + 1)] == '[')
      fail("a flag has one value and no list");
  }

  const CLI::Option *find(const CLI::ConfigItem &item) const {
    for (const CLI::Option *option : app.get_options())
      if (item.parents.empty() && isConfigurable(option) && option->check_lname(item.name))
        return option;
    throw CLI::ConfigError(fmt::format(
        "--config: {} has no flag '{}' to give in a file{}", app.get_name(), item.fullname(),
        gc::runtime::didYouMean(gc::runtime::nearestName(item.name, configurableNames(app)))));
  }

  /// A flag that is off, or what the command line, which was read before, excludes.
  static bool isLeftOut(const CLI::Option *option, const CLI::ConfigItem &item) {
    const std::string &value = item.inputs.front();
    if (isFlag(option) && value != "true" && value != "false")
      throw CLI::ConfigError(
          fmt::format("--config: {} = {}: expected true or false", item.name, value));
    if (isFlag(option) && value == "false")
      return true;
    const std::set<CLI::Option *> excluded = option->get_excludes();
    return std::any_of(excluded.begin(), excluded.end(),
                       [](const CLI::Option *other) { return other->count() > 0; });
  }

  const CLI::App &app;
};

/// A number where the text is one.
Json typed(const std::string &text) {
  Json number = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return number.is_number() ? number : Json(text);
}

Json valueOf(const CLI::Option *option) {
  if (isFlag(option))
    return option->count() > 0;
  if (option->count() > 0) {
    Json values = Json::array();
    for (const std::string &text : option->results())
      values.push_back(typed(text));
    return values.size() == 1 ? values[0] : values;
  }
  std::string usual = option->get_default_str();
  return usual.empty() ? Json() : typed(usual);
}

/// `NAME = VALUE`; empty where --config could not read it again.
std::string tomlLine(const std::string &name, const Json &value) {
  if (!value.is_string())
    return fmt::format("{} = {}\n", name, value.dump());
  const std::string &text = value.get_ref<const std::string &>();
  bool single = text.find_first_of("\"\\") != std::string::npos;
  if (text.find_first_of(single ? "#\n'" : "#\n") != std::string::npos)
    return "";
  char quote = single ? '\'' : '"';
  return fmt::format("{} = {}{}{}\n", name, quote, text, quote);
}

} // namespace

void addConfigFlag(CLI::App &app) {
  app.config_formatter(std::make_shared<TomlReader>(app));
  app.set_config(
         "--config", "",
         "Flags from a file (TOML): a line NAME = VALUE each, with the names that they have "
         "here; what is given on the command line wins")
      ->configurable(false)
      ->type_name("FILE");
}

EffectiveConfiguration effectiveConfiguration(const CLI::App &app, const std::string &commandLine) {
  Json all = Json::object();
  std::string given, defaults;
  for (const CLI::Option *option : app.get_options()) {
    if (!isConfigurable(option))
      continue;
    const std::string &name = option->get_lnames().front();
    Json value = valueOf(option);
    std::string line = value.is_null() ? "" : tomlLine(name, value);
    if (option->count() > 0)
      given +=
          line.empty() ? fmt::format("# {} was given, and cannot be written here\n", name) : line;
    else if (!line.empty())
      defaults += "# " + line;
    all[name] = std::move(value);
  }
  std::string toml = fmt::format("# What {} {} was started with; {} --config takes this file.\n",
                                 app.get_name(), GC_VERSION, app.get_name());
  if (commandLine.find('\n') == std::string::npos)
    toml += "# " + commandLine + "\n";
  return {all.dump(-1, ' ', false, Json::error_handler_t::replace),
          toml + given + "\n# Defaults:\n" + defaults};
}

std::string commandLineText(int argc, char **argv) {
  std::string text;
  for (int i = 0; i < argc; ++i) {
    std::string word = argv[i];
    bool plain = !word.empty() &&
                 word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                        "0123456789-_=./:,@%+") == std::string::npos;
    if (!plain) {
      std::string quoted = "'";
      for (char c : word)
        quoted += c == '\'' ? "'\\''" : std::string(1, c);
      word = quoted + "'";
    }
    text += (i ? " " : "") + word;
  }
  return text;
}
