// --fold-default-inputs and --allow-hard-links.
#pragma once

#include <string>

#include "tools/cli/cli_fwd.h"
#include "weft/io/model_io.h"

namespace weft::tools {

// Both, on one line of the help with that text. Warnings are those of the program of `app`.
void AddLoadFlags(CLI::App& app, LoadOptions* options,
                  const std::string& text = "make defaults of inputs constants; read hard links");

}  // namespace weft::tools
