// What the main functions of ir-opt and ir-run share: parsing the command line with CLI11, help on
// one screen, one line on stderr for an error, the exit code.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/status.h"
#include "tools/cli/cli_fwd.h"
#include "weft/base/notices.h"

namespace weft::tools {

// The group of an option that stands on the help line of the one added before it, whose description
// covers both.
inline constexpr const char* kSameLine = "same line";

// The group of an option that the help leaves out, with those on its line.
inline constexpr const char* kNotShown = "not shown";

// Gives `app` the flags --help and --version and our help: one line per option, in the order they
// were added, then `footer`; --json, for which there is ApplyJsonFlag(), where it has such answers.
// And, unseen, --generate KIND, which prints what ProgramDocument makes.
enum class Answers : uint8_t { kText, kTextOrJson };
void SetUpApp(CLI::App& app, const std::string& usage, const std::string& footer,
              Answers answers = Answers::kText);

// The form of an answer, which is the value of its flag: "table", or this.
inline constexpr const char* kJson = "json";
// Whether --json was given; then the forms that are not empty become kJson.
bool ApplyJsonFlag(const CLI::App& app, std::initializer_list<std::string*> forms);
// InvalidArgument unless it is "table", "json" or empty.
absl::Status CheckForm(const std::string& flag, const std::string& form);

// Parses and runs `body`; returns the exit code. No exception leaves.
int RunMain(CLI::App& app, int argc, const char* const* argv,
            const std::function<absl::Status()>& body);

// "ir-opt: error: what" on stderr, control characters escaped so that it stays one line.
void PrintError(const std::string& program, std::string_view what);
void PrintWarning(const std::string& program, std::string_view what);
// Prints them so, on stderr.
Notices NoticesOf(const std::string& program);

// NAME=VALUE split at the first '='; `option` is for the message.
absl::StatusOr<std::pair<std::string, std::string>> SplitAssignment(const std::string& option,
                                                                    const std::string& text);
// The same, or NAME:VALUE split at the last ':', since names of ONNX have colons.
absl::StatusOr<std::pair<std::string, std::string>> SplitNamed(const std::string& option,
                                                               std::string text);

}  // namespace weft::tools
