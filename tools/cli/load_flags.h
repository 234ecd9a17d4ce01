// --fold-default-inputs and --allow-hard-links.
#pragma once

#include "tools/cli/cli_fwd.h"
#include "weft/io/model_io.h"

namespace weft::tools {

// Both, on one line of the help. Warnings are those of the program of `app`.
void AddLoadFlags(CLI::App& app, LoadOptions* options);

}  // namespace weft::tools
