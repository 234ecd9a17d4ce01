#include "tools/cli/rewrite_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "ir/base/suggest.h"
#include "tools/cli/program_main.h"
#include "tools/cli/tables/terminal.h"
#include "weft/optimize/rewrite_text.h"

namespace weft::tools {

namespace {

// Of a line that went, or came.
Style StyleOfChange(const std::string& line) {
  return line.starts_with('-')   ? Style::kRed
         : line.starts_with('+') ? Style::kGreen
                                 : Style::kPlain;
}

}  // namespace

void AddRewriteFlags(CLI::App& app, RewriteFlags* flags) {
  app.add_option("--max-rewrites", flags->most,
                 "stop after N; a line for each, on stderr; =diff: changed lines")
      ->type_name("N")
      ->check([](const std::string& text) {  // which CLI11 would wrap around
        return std::string(text.starts_with('-') ? "expected a number of at least 0" : "");
      });
  app.add_flag("--print-rewrites{line}", flags->print)->group(kSameLine);
}

absl::Status CheckRewriteFlags(const RewriteFlags& flags) {
  const std::string forms[] = {"line", "diff"};
  if (flags.print.empty()) return absl::OkStatus();
  return ir::CheckName("form of --print-rewrites", flags.print, forms);
}

std::optional<passes::RewriteTraceOptions> TraceOptionsOf(const RewriteFlags& flags) {
  if (!flags.most && flags.print.empty() && !flags.on_rewrite && !flags.before_rewrite)
    return std::nullopt;
  passes::RewriteTraceOptions options;
  if (flags.most) options.limit = *flags.most;
  options.lines = flags.print == "diff";
  options.before_rewrite = flags.before_rewrite;
  options.on_rewrite = flags.on_rewrite;
  if (!flags.print.empty())
    options.on_rewrite = [also = flags.on_rewrite](const passes::TracedRewrite& rewrite) {
      std::string text = Styled(Style::kBold, DescribeRewrite(rewrite), stderr) + "\n";
      for (const std::string& line : rewrite.lines)
        text += "  " + Styled(StyleOfChange(line), line, stderr) + "\n";
      std::fputs(text.c_str(), stderr);
      if (also) also(rewrite);
    };
  return options;
}

}  // namespace weft::tools
