#include "tools/cli/program_main.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <sstream>

#include "ir/base/contains.h"
#include "ir/base/escape.h"
#include "ir/base/large_memory.h"
#include "ir/base/read_files.h"
#include "ir/base/suggest.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/faults.h"
#include "tools/cli/program_documents.h"
#include "tools/cli/reproducer.h"
#include "tools/cli/tables/terminal.h"
#include "weft/version.h"

namespace weft::tools {
namespace {

constexpr size_t kHelpColumn = 30;

// Lines that the terminal cannot hold go on in the next.
std::string Fitted(const std::string& help) {
  const std::string indent(6, ' ');
  const size_t columns = ColumnsOf(stdout);
  if (columns <= 2 * indent.size()) return help;
  std::string text, line;
  for (std::istringstream lines(help); std::getline(lines, line);) {
    std::string before;
    for (const std::string& part : WrapText(line, columns - indent.size())) {
      text += before + part + "\n";
      before = indent;
    }
  }
  return text;
}

class OneLineFormatter : public CLI::Formatter {
 public:
  OneLineFormatter(std::string usage, std::string footer)
      : usage_(std::move(usage)), footer_(std::move(footer)) {}

  std::string make_help(const CLI::App* app, std::string /*name*/,
                        CLI::AppFormatMode /*mode*/) const override {
    std::string help = usage_ + "\n";
    for (const OptionLine& line : OptionLines(*app, /*all=*/false)) {
      std::string left = "  ";
      for (size_t i = 0; i < line.options.size(); ++i)
        left += (i == 0 ? "" : ", ") + TypedForm(*line.options[i]);
      help += fmt::format("{:<{}}  {}\n", left, kHelpColumn - 2, line.description);
    }
    return Fitted(help + footer_ + "\n");
  }

 private:
  std::string usage_, footer_;
};

std::string LowerFirst(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  while (!text.empty() && text.back() == '.') text.pop_back();
  return text;
}

// CLI11's own complaint, but for unknown options, which get a suggestion.
std::string UsageMistake(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> extras = app.remaining();
  if (extras.empty()) return LowerFirst(error.what());
  std::vector<std::string> options;
  for (const OptionLine& line : OptionLines(app, /*all=*/true))
    for (const CLI::Option* option : line.options)
      for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  for (const std::string& extra : extras) {
    if (extra.size() < 2 || extra[0] != '-') continue;
    const absl::Status unknown =
        ir::UnknownName("option", extra.substr(0, extra.find('=')), options);
    return std::string(ir::Message(unknown));
  }
  return fmt::format("unexpected argument '{}'", extras[0]);
}

// Of an option that has a value, as of a variable of a shell that is not set: no option means that.
absl::Status CheckValuesAreGiven(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    if (option->get_expected_min() > 0 && option->get_items_expected_min() > 0 &&
        ir::Contains(option->results(), ""))
      return ir::InvalidArgument(option->get_name() + ": the value is empty");
  return absl::OkStatus();
}

// An error that is a mistake of ours.
void PrintInternalError(const std::string& program, std::string what) {
  const std::string folder = WriteReproducer();
  if (!folder.empty()) what += fmt::format(" ({}/run.sh runs it again)", folder);
  PrintError(program, what);
}

int Finish(const std::string& program, const absl::Status& status) {
  if (absl::IsInternal(status)) {
    PrintInternalError(program, std::string(ir::Message(status)));
  } else if (!status.ok()) {
    PrintError(program, ir::Message(status));
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    PrintError(program, "writing to stdout failed");
    return kBadInput;
  }
  if (status.ok() && std::ferror(stderr)) return kBadInput;  // which nobody can be told
  return ExitCodeOf(status);
}

// To optimise and run a small model, a third of the time of a program can go into the traps of pages of the heap that
// are touched for the first time. So the heap grows at once, with its pages; what is freed here malloc hands out next.
void GrowHeap() {
  constexpr size_t kBlock = 64 * 1024;  // less than what malloc maps by itself
  std::array<char*, 64> blocks;
  for (char*& block : blocks) block = static_cast<char*>(std::malloc(kBlock));
  const auto [low, high] = std::minmax_element(blocks.begin(), blocks.end());
  const auto size = static_cast<size_t>(*high - *low) + kBlock;
  if (*low != nullptr && size < 2 * blocks.size() * kBlock) ir::PrepareForWriting(*low, size);
  static char* volatile last;
  last = *high;  // it stays, or free would give the end of the heap back
  for (char* const block : blocks)
    if (block != last) std::free(block);
}

}  // namespace

void SetUpApp(CLI::App& app, const std::string& usage, const std::string& footer, Answers answers) {
  const bool has_json = answers == Answers::kTextOrJson;
  app.formatter(std::make_shared<OneLineFormatter>(usage, footer));
  app.set_help_flag(
      "-h,--help", has_json ? "this text; the version; answers as JSON" : "this text; the version");
  app.set_version_flag("--version", app.get_name() + " " WEFT_VERSION_STRING, "the version")
      ->group(kSameLine);
  if (has_json) app.add_flag("--json")->group(kSameLine);
  // It ends the run as --version does, whatever else is missing.
  app.add_option_function<std::string>(
         "--generate",
         [&app, usage, footer](const std::string& kind) {
           auto text = ProgramDocument(app, kind, usage, footer);
           if (!text.ok())
             throw CLI::ValidationError("--generate", std::string(ir::Message(text.status())));
           throw CLI::CallForVersion(*text, 0);
         })
      ->trigger_on_parse()
      ->group(kForPackages);
}

bool ApplyJsonFlag(const CLI::App& app, std::initializer_list<std::string*> forms) {
  if (app.count("--json") == 0) return false;
  for (std::string* const form : forms)
    if (!form->empty()) *form = kJson;
  return true;
}

absl::Status CheckForm(const std::string& flag, const std::string& form) {
  const std::string forms[] = {"table", kJson};
  return form.empty() ? absl::OkStatus() : ir::CheckName("form of " + flag, form, forms);
}

int RunMain(CLI::App& app, int argc, const char* const* argv,
            const std::function<absl::Status()>& body) {
  HandleFaults();
  GrowHeap();
  const std::string program = app.get_name();
  try {
    try {
      app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      std::fputs(app.help().c_str(), stdout);
      return Finish(program, absl::OkStatus());
    } catch (const CLI::CallForVersion& version) {
      const std::string_view text = version.what();
      std::printf("%s%s", version.what(), text.ends_with('\n') ? "" : "\n");
      return Finish(program, absl::OkStatus());
    } catch (const CLI::ParseError& error) {
      PrintError(program, UsageMistake(app, error));
      return kBadInput;
    }
    if (const absl::Status status = CheckValuesAreGiven(app); !status.ok())
      return Finish(program, status);
    PrepareReproducer(program, argc, argv);
    const ir::KeepReadFiles keep;
    return Finish(program, body());
  } catch (const std::bad_alloc&) {
    PrintError(program, "out of memory");
  } catch (const std::exception& error) {
    PrintInternalError(program, error.what());
  }
  return kBadInput;
}

void PrintError(const std::string& program, std::string_view what) {
  std::fprintf(stderr, "%s: %s %s\n", program.c_str(),
               Styled(Style::kRed, "error:", stderr).c_str(), ir::EscapeControl(what).c_str());
}

void PrintWarning(const std::string& program, std::string_view what) {
  std::fprintf(stderr, "%s: %s %s\n", program.c_str(),
               Styled(Style::kYellow, "warning:", stderr).c_str(), ir::EscapeControl(what).c_str());
}

Notices NoticesOf(const std::string& program) {
  return {.warning = [program](const std::string& line) { PrintWarning(program, line); },
          .error = [program](const std::string& line) { PrintError(program, line); },
          .text = [](const std::string& lines) { std::fputs(lines.c_str(), stderr); }};
}

absl::StatusOr<std::pair<std::string, std::string>> SplitAssignment(const std::string& option,
                                                                    const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return ir::InvalidArgument(fmt::format("{} {}: expected NAME=VALUE", option, text));
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

absl::StatusOr<std::pair<std::string, std::string>> SplitNamed(const std::string& option,
                                                               std::string text) {
  const size_t colon = text.rfind(':');
  if (text.find('=') == std::string::npos && colon != std::string::npos) text[colon] = '=';
  return SplitAssignment(option, text);
}

}  // namespace weft::tools
