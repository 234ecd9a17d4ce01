#include "tools/cli/program_documents.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "tools/cli/completions.h"
#include "tools/cli/option_texts.h"
#include "tools/cli/program_main.h"
#include "weft/version.h"

namespace weft::tools {
namespace {

// Text of a manual page: no line of it is a command of troff, no character an escape.
std::string Escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n')) {
      result += "\\&";
      result += c;
    } else {
      result += c;
    }
  }
  return result;
}

// What comes before and after the first gap of several blanks.
std::pair<std::string, std::string> SplitAtGap(const std::string& line) {
  const size_t gap = line.find("  ");
  if (gap == std::string::npos) return {line, ""};
  return {line.substr(0, gap), line.substr(line.find_first_not_of(' ', gap))};
}

absl::StatusOr<std::string> ManPage(const CLI::App& app, const std::string& usage,
                                    const std::string& footer) {
  const std::string& name = app.get_name();
  const auto [synopsis, summary] = SplitAtGap(usage);
  std::string page = fmt::format(".TH {} 1 \"\" \"Weft {}\" \"User Commands\"\n.ad l\n.nh\n",
                                 Escaped(name), WEFT_VERSION_STRING);
  page += fmt::format(".SH NAME\n{} \\- {}\n", Escaped(name), Escaped(summary));
  const std::string_view kUsage = "usage: ";
  page += fmt::format(".SH SYNOPSIS\n.B {}\n", Escaped(synopsis.substr(kUsage.size())));
  page += ".SH OPTIONS\n";
  for (const OptionLine& line : OptionLines(app, /*all=*/true))
    for (const CLI::Option* option : line.options) {
      const std::string_view text = OptionText(name, NameOf(*option));
      if (text.empty()) return ir::Internal(NameOf(*option) + " has no text in option_texts.cc");
      page += fmt::format(".TP\n\\fB{}\\fR\n{}\n", Escaped(TypedForm(*option)), Escaped(text));
    }
  page += ".SH NOTES\n";
  for (size_t at = 0; at < footer.size();) {
    const size_t end = std::min(footer.find('\n', at), footer.size());
    page += Escaped(footer.substr(at, end - at)) + "\n.br\n";
    at = end + 1;
  }
  page += ".SH SEE ALSO\n.BR ir-opt (1),\n.BR ir-run (1)\n";
  return page;
}

}  // namespace

std::vector<OptionLine> OptionLines(const CLI::App& app, bool all) {
  std::vector<OptionLine> lines;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group() != kSameLine || lines.empty())
      lines.push_back({.options = {}, .description = option->get_description()});
    lines.back().options.push_back(option);
  }
  std::erase_if(lines, [&](const OptionLine& line) {
    const std::string& group = line.options[0]->get_group();
    return group == kForPackages || (group == kNotShown && !all);
  });
  return lines;
}

std::string NameOf(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  return option.get_lnames().empty() ? "-" + option.get_snames()[0] : "--" + option.get_lnames()[0];
}

std::string TypedForm(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  std::string name = option.get_name(false, true);
  name = name.substr(0, name.find('{'));  // the value of a flag without one
  for (size_t comma = name.find(','); comma != std::string::npos; comma = name.find(',', comma + 2))
    name.replace(comma, 1, ", ");
  if (option.get_items_expected_max() == 0) return name;
  const std::string type = option.get_type_name();
  return name + " " + type.substr(0, type.find(":NONNEGATIVE"));  // which CLI11 adds
}

absl::StatusOr<std::string> ProgramDocument(const CLI::App& app, std::string_view kind,
                                            const std::string& usage, const std::string& footer) {
  if (kind == "man") return ManPage(app, usage, footer);
  if (kind == "bash") return BashCompletion(app);
  if (kind == "zsh") return ZshCompletion(app);
  if (kind == "fish") return FishCompletion(app);
  return ir::InvalidArgument(fmt::format("'{}': expected man, bash, zsh or fish", kind));
}

}  // namespace weft::tools
