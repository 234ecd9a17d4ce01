// --load: shared objects with rules, passes, operators and kernels (weft/plugin.h).
#pragma once

#include <string>
#include <vector>

#include "ir/base/status.h"
#include "tools/cli/cli_fwd.h"

namespace weft::tools {

void AddPluginFlag(CLI::App& app, std::vector<std::string>* files, const std::string& description);

// Loads them in order, before anything asks what is registered; one that is given twice, once. They
// stay until the process ends. InvalidArgument for a file that is no plugin, that was built for another
// version, whose symbols this program has not, which registers a name that is taken, a rule that does
// not build, or nothing. No code of the file has run when its version is refused.
absl::Status LoadPlugins(const std::vector<std::string>& files);

}  // namespace weft::tools
