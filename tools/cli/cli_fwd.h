// CLI::App by name: CLI11's own header takes seconds to compile, and only who adds options needs it.
#pragma once

namespace CLI {
class App;
}
