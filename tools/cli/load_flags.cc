#include "tools/cli/load_flags.h"

#include <CLI/CLI.hpp>

#include "tools/cli/program_main.h"

namespace weft::tools {

void AddLoadFlags(CLI::App& app, LoadOptions* options, const std::string& text) {
  options->notices = NoticesOf(app.get_name());
  app.add_flag("--fold-default-inputs", options->fold_default_inputs, text);
  app.add_flag("--allow-hard-links", options->allow_hard_links)->group(kSameLine);
}

}  // namespace weft::tools
