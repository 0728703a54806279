#include "tools/flags/ShellCompletion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

namespace {

std::string origin(const CommandTable &table, const char *shell) {
  return fmt::format("# Written by `{} --completion={}`.\n", table.name, shell);
}

/// `_gc_run`
std::string functionName(const CommandTable &table) {
  std::string name = "_" + table.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// In one line and short; texts of --help go on with details behind the first `;` or bracket.
std::string shortText(const std::string &text) {
  std::string brief = text.substr(0, text.find_first_of(";(\n"));
  while (!brief.empty() && brief.back() == ' ')
    brief.pop_back();
  return brief;
}

std::string replaced(std::string text, const std::map<char, std::string> &by) {
  std::string result;
  for (char c : text)
    result += by.count(c) ? by.at(c) : std::string(1, c);
  return result;
}

// ---------------------------------------------------------------------------------------------------
// bash

/// As it is typed: `--save=` where a value follows.
std::string wordsOf(const CommandTable &table) {
  std::vector<std::string> words;
  for (const OptionRow &row : table.options)
    for (const std::string &name : row.names)
      words.push_back(name + (!row.valueName.empty() && name.starts_with("--") ? "=" : ""));
  return fmt::format("{}", fmt::join(words, " "));
}

/// Branches of the `case` that says what follows a flag.
std::string bashValues(const CommandTable &table) {
  std::string text;
  for (const OptionRow &row : table.options)
    if (!row.valueName.empty())
      text += fmt::format("    {}) values=\"{}\" kind={} ;;\n", fmt::join(row.names, "|"),
                          fmt::join(row.choices, " "), row.choices.empty() ? "files" : "words");
  return text;
}

constexpr const char *kBash = R"({origin}
# Words break at `=`: `--optimizer=ad` comes as three of them.
{function}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before="" beforeThat="" flag="" values="" kind="" word command=""
  (( COMP_CWORD > 0 )) && before=${{COMP_WORDS[COMP_CWORD-1]}}
  (( COMP_CWORD > 1 )) && beforeThat=${{COMP_WORDS[COMP_CWORD-2]}}
  if [[ $current == "=" ]]; then flag=$before current=""
  elif [[ $before == "=" ]]; then flag=$beforeThat
  else flag=$before
  fi
  local flags="{flags}" commands="{commands}"
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case " $commands " in *" $word "*) command=$word; break ;; esac
  done
  case $flag in
{values}  esac
  case $command in
{branches}  esac
  COMPREPLY=()
  if [[ $kind == words ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$current"))
  elif [[ $kind == "" && $current == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
    [[ ${{#COMPREPLY[@]}} -eq 1 && ${{COMPREPLY[0]}} == *= ]] && compopt -o nospace 2>/dev/null
  elif [[ $kind == "" && -n $commands && -z $command ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$current"))
  else
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}}
complete -F {function} {tool}
)";

std::string bash(const CommandTable &table) {
  std::vector<std::string> commands;
  std::string branches;
  for (const CommandTable &command : table.commands) {
    commands.push_back(command.name);
    branches += fmt::format("  {}) flags=\"$flags {}\"\n    case $flag in\n{}    esac ;;\n",
                            command.name, wordsOf(command), bashValues(command));
  }
  return fmt::format(fmt::runtime(kBash), fmt::arg("origin", origin(table, "bash")),
                     fmt::arg("function", functionName(table)), fmt::arg("flags", wordsOf(table)),
                     fmt::arg("commands", fmt::format("{}", fmt::join(commands, " "))),
                     fmt::arg("values", bashValues(table)), fmt::arg("branches", branches),
                     fmt::arg("tool", table.name));
}

// ---------------------------------------------------------------------------------------------------
// zsh

/// A specification of _arguments, in single quotes.
std::string zshSpecification(const std::string &name, const OptionRow &row) {
  const std::map<char, std::string> escapes = {
      {'[', "\\["}, {']', "\\]"}, {':', "\\:"}, {'\'', "'\\''"}};
  std::string text = fmt::format("  '{}{}[{}]", name,
                                 row.valueName.empty()    ? ""
                                 : name.starts_with("--") ? "="
                                                          : "+",
                                 replaced(shortText(row.text), escapes));
  if (!row.choices.empty())
    text += fmt::format(":value:({})", fmt::join(row.choices, " "));
  else if (!row.valueName.empty())
    text += ":value:_files";
  return text + "' \\\n";
}

std::string zsh(const CommandTable &table) {
  std::string text =
      fmt::format("#compdef {}\n{}_arguments \\\n", table.name, origin(table, "zsh"));
  std::map<std::string, bool> told;
  auto add = [&](const CommandTable &of) {
    for (const OptionRow &row : of.options)
      for (const std::string &name : row.names)
        if (!std::exchange(told[name], true))
          text += zshSpecification(name, row);
  };
  add(table);
  std::vector<std::string> commands;
  for (const CommandTable &command : table.commands) {
    add(command); // of whichever is chosen: _arguments would need a state for each
    commands.push_back(command.name);
  }
  if (!commands.empty())
    return text + fmt::format("  '1:network:({})'\n", fmt::join(commands, " "));
  return text + "  '*:file:_files'\n";
}

// ---------------------------------------------------------------------------------------------------
// fish

std::string fishLines(const CommandTable &table, const std::string &tool,
                      const std::string &condition) {
  std::string text;
  for (const OptionRow &row : table.options) {
    text += fmt::format("complete -c {}{}", tool, condition);
    for (const std::string &name : row.names)
      text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (!row.choices.empty())
      text += fmt::format(" -x -a '{}'", fmt::join(row.choices, " "));
    else if (!row.valueName.empty())
      text += " -r";
    text +=
        fmt::format(" -d '{}'\n", replaced(shortText(row.text), {{'\'', "\\'"}, {'\\', "\\\\"}}));
  }
  return text;
}

std::string fish(const CommandTable &table) {
  std::string text = origin(table, "fish") + fishLines(table, table.name, "");
  for (const CommandTable &command : table.commands) {
    text += fmt::format("complete -c {} -n __fish_use_subcommand -f -a {} -d '{}'\n", table.name,
                        command.name, replaced(command.summary, {{'\'', "\\'"}, {'\\', "\\\\"}}));
    text += fishLines(command, table.name,
                      fmt::format(" -n '__fish_seen_subcommand_from {}'", command.name));
  }
  return text;
}

} // namespace

std::string completionScript(const CommandTable &table, const std::string &shell) {
  return shell == "bash"   ? bash(table)
         : shell == "zsh"  ? zsh(table)
         : shell == "fish" ? fish(table)
                           : "";
}
