// Scripts that complete a program's command line in shells, made of its flags.
#pragma once

#include <string>

#include "tools/cli/cli_fwd.h"

namespace weft::tools {

// Rules and passes are asked of the program itself (--list-rules, --list-passes) when they are wanted,
// so that a script stays right for the program it is used with.
std::string BashCompletion(const CLI::App& app);
std::string ZshCompletion(const CLI::App& app);
std::string FishCompletion(const CLI::App& app);

}  // namespace weft::tools
