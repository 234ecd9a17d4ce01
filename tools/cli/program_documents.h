// What is made of a program's flags: the lines of its --help, a manual page, completions of shells.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/base/status.h"
#include "tools/cli/cli_fwd.h"

namespace weft::tools {

// The group of the option that prints what ProgramDocument makes, for who builds a package.
inline constexpr const char* kForPackages = "for packages";

// Options that stand on one line of the help and share its description, whose parts, when there are as many,
// are of one option each: "; " parts them.
struct OptionLine {
  std::vector<const CLI::Option*> options;
  std::string description;
};

// In the order they were added; with `all` also those of the group kNotShown, but none kForPackages.
std::vector<OptionLine> OptionLines(const CLI::App& app, bool all);

// The first name of an option, as OptionText() knows it: "--help", "-o", "IN".
std::string NameOf(const CLI::Option& option);

// What is typed for an option: "-h, --help", "--dim NAME=SIZE", "IN".
std::string TypedForm(const CLI::Option& option);

// `kind` is man (a page of section 1), or bash, zsh or fish (a script that completes flags, names of
// pipelines, passes and rules, files); InvalidArgument for another. `usage` and `footer` are
// those of the help: "usage: NAME ARGUMENTS     what it does", lines that end it.
absl::StatusOr<std::string> ProgramDocument(const CLI::App& app, std::string_view kind,
                                            const std::string& usage, const std::string& footer);

}  // namespace weft::tools
