// CLI::App and CLI::Option by name: CLI11's own header takes seconds to compile, and only who adds options needs it.
#pragma once

namespace CLI {
class App;
class Option;
}  // namespace CLI
