#include "tools/cli/completions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "tools/cli/option_texts.h"
#include "tools/cli/program_documents.h"

namespace weft::tools {
namespace {

enum class Values { kNone, kOther, kFiles, kFolders, kWords, kRules, kPasses };

struct Completed {
  std::string flag;  // "--pipeline", "-o"
  std::string description;
  Values values = Values::kNone;
  std::string type;                // of a value: "P"
  std::vector<std::string> words;  // of kWords
};

struct Known {
  std::string_view flag;
  Values values;
};
// Flags that take names of what there is, or files whose type has a short name. All else follows from the names of
// types and descriptions.
constexpr std::array kKnown = {
    Known{"--enable-rule", Values::kRules},
    Known{"--disable-rule", Values::kRules},
    Known{"--explain", Values::kRules},
    Known{"--list-rules", Values::kRules},
    Known{"--verify-rules", Values::kRules},
    Known{"--passes", Values::kPasses},
    Known{"--print-ir-before", Values::kPasses},
    Known{"--print-ir-after", Values::kPasses},
    Known{"--rules-file", Values::kFiles},
    Known{"--html", Values::kFiles},
    Known{"--svg", Values::kFiles},
    Known{"--dot", Values::kFiles},
};

// What a line's description says of its i-th option alone; empty when it says it of several.
std::string OwnDescription(const OptionLine& line, size_t i) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= line.description.size();) {
    const size_t end = std::min(line.description.find("; ", at), line.description.size());
    parts.push_back(line.description.substr(at, end - at));
    at = end + 2;
  }
  if (parts.size() == line.options.size()) return parts[i];
  return i == 0 && parts.size() == 1 ? parts[0] : "";
}

// Those of "fused ops: functions|inline|ort".
std::vector<std::string> ChoicesIn(std::string_view description) {
  const size_t bar = description.find('|');
  if (bar == std::string_view::npos) return {};
  const size_t before = description.rfind(' ', bar);
  size_t at = before == std::string_view::npos ? 0 : before + 1;
  std::vector<std::string> words;
  const size_t end = std::min(description.find(' ', at), description.size());
  while (at < end) {
    const size_t next = std::min(description.find('|', at), end);
    words.emplace_back(description.substr(at, next - at));
    at = next + 1;
  }
  return words;
}

Values ValuesOf(const std::string& flag, const std::string& type) {
  const auto known = std::ranges::find(kKnown, flag, &Known::flag);
  if (known != kKnown.end()) return known->values;
  if (type == "DIR") return Values::kFolders;
  const bool file = type.find("FILE") != std::string::npos || type == "OUT" || type == "WITH";
  return file ? Values::kFiles : Values::kOther;
}

std::vector<Completed> FlagsOf(const CLI::App& app) {
  std::vector<Completed> flags;
  for (const OptionLine& line : OptionLines(app, /*all=*/true)) {
    for (size_t i = 0; i < line.options.size(); ++i) {
      const CLI::Option& option = *line.options[i];
      if (option.get_positional()) continue;
      const std::string own = OwnDescription(line, i);
      std::vector<std::string> names;
      for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
      for (const std::string& name : option.get_snames()) names.push_back("-" + name);
      const std::string text = FirstPartOf(OptionText(app.get_name(), NameOf(option)));
      for (const std::string& name : names) {
        Completed flag = {.flag = name, .description = text};
        if (option.get_items_expected_max() > 0) {
          flag.type = TypedForm(option);
          flag.type = flag.type.substr(flag.type.rfind(' ') + 1);
          flag.values = ValuesOf(name, flag.type);
          if (flag.values == Values::kOther) flag.words = ChoicesIn(own);
          if (name == "--format") flag.words = {"onnx", "ir"};
          if (!flag.words.empty()) flag.values = Values::kWords;
        }
        flags.push_back(std::move(flag));
      }
    }
  }
  return flags;
}

std::string FunctionName(const CLI::App& app) {
  std::string name = "_" + app.get_name();
  std::ranges::replace(name, '-', '_');
  return name;
}

// A command that prints the names in the first column of a list, one a line.
std::string NamesCommand(std::string_view program, Values values) {
  const std::string_view list = values == Values::kRules ? "--list-rules" : "--list-passes";
  return fmt::format(
      "\"{}\" {} 2>/dev/null | awk 'NR > 1 && NF == 0 {{ exit }} NR > 1 {{ print $1 }}'", program,
      list);
}

// In single quotes, for sh and fish alike.
std::string Quoted(std::string text) {
  for (size_t at = text.find('\''); at != std::string::npos; at = text.find('\'', at + 4))
    text.replace(at, 1, "'\\''");
  return "'" + text + "'";
}

}  // namespace

std::string BashCompletion(const CLI::App& app) {
  const std::string function = FunctionName(app);
  std::string all, cases;
  for (const Completed& flag : FlagsOf(app)) {
    all += (all.empty() ? "" : " ") + flag.flag;
    std::string reply;
    switch (flag.values) {
      case Values::kNone:
      case Values::kFiles:
        continue;  // the shell's own completion
      case Values::kFolders:
        reply = "compopt -o dirnames +o default";
        break;
      case Values::kOther:
        reply = "compopt +o default";
        break;
      case Values::kWords:
        reply = fmt::format("COMPREPLY=($(compgen -W {} -- \"$cur\"))",
                            Quoted(fmt::format("{}", fmt::join(flag.words, " "))));
        break;
      case Values::kRules:
      case Values::kPasses:
        reply = fmt::format("COMPREPLY=($(compgen -W \"$({})\" -- \"$cur\"))",
                            NamesCommand("${COMP_WORDS[0]}", flag.values));
        break;
    }
    cases += fmt::format("    {}) {} ;;\n", flag.flag, reply);
  }
  return fmt::format(
      "# bash completion of {0}, made of its flags\n"
      "{1}() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  COMPREPLY=()\n"
      "  if [[ $cur == = ]]; then cur=; fi  # --flag=value is three words\n"
      "  if [[ $prev == = ]]; then prev=${{COMP_WORDS[COMP_CWORD-2]}}; fi\n"
      "  case $prev in\n{2}"
      "    *) if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W {3} -- \"$cur\")); fi ;;\n"
      "  esac\n"
      "}}\n"
      "complete -o default -F {1} {0}\n",
      app.get_name(), function, cases, Quoted(all));
}

std::string ZshCompletion(const CLI::App& app) {
  std::string specs;
  for (const Completed& flag : FlagsOf(app)) {
    std::string description;
    for (const char c : flag.description) {
      if (c == '[' || c == ']' || c == ':' || c == '\\') description += '\\';
      description += c;
    }
    // A value may follow in a word of its own, or after '='.
    const bool is_long = flag.flag.starts_with("--");
    const std::string_view separate = is_long && flag.values != Values::kNone ? "=" : "";
    std::string action;
    switch (flag.values) {
      case Values::kNone:
        break;
      case Values::kOther:
        action = ":value: ";
        break;
      case Values::kFiles:
        action = ":file:_files";
        break;
      case Values::kFolders:
        action = ":folder:_files -/";
        break;
      case Values::kWords:
        action = fmt::format(":value:({})", fmt::join(flag.words, " "));
        break;
      case Values::kRules:
        action = ":rule:{compadd -- $(" + NamesCommand("$words[1]", flag.values) + ")}";
        break;
      case Values::kPasses:
        action = ":pass:{compadd -- $(" + NamesCommand("$words[1]", flag.values) + ")}";
        break;
    }
    specs += fmt::format(
        " \\\n  {}", Quoted(fmt::format("*{}{}[{}]{}", flag.flag, separate, description, action)));
  }
  return fmt::format("#compdef {}\n# made of its flags\n_arguments{} \\\n  '*:model:_files'\n",
                     app.get_name(), specs);
}

std::string FishCompletion(const CLI::App& app) {
  std::string script = fmt::format("# fish completion of {}, made of its flags\n", app.get_name());
  for (const Completed& flag : FlagsOf(app)) {
    const bool is_long = flag.flag.starts_with("--");
    script += fmt::format("complete -c {} {} {}", app.get_name(), is_long ? "-l" : "-s",
                          flag.flag.substr(is_long ? 2 : 1));
    switch (flag.values) {
      case Values::kNone:
        break;
      case Values::kOther:
        script += " -x";
        break;
      case Values::kFiles:
        script += " -r";
        break;
      case Values::kFolders:
        script += " -x -a '(__fish_complete_directories)'";
        break;
      case Values::kWords:
        script += fmt::format(" -x -a {}", Quoted(fmt::format("{}", fmt::join(flag.words, " "))));
        break;
      case Values::kRules:
      case Values::kPasses:
        script += " -x -a " + Quoted("(" + NamesCommand(app.get_name(), flag.values) + ")");
        break;
    }
    script += fmt::format(" -d {}\n", Quoted(flag.description));
  }
  return script;
}

}  // namespace weft::tools
