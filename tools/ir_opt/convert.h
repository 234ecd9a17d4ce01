// --convert: a model in another floating point type, and what that does to its outputs.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"
#include "passes/pass_manager.h"
#include "passes/precision/convert_floats.h"
#include "tools/cli/cli_fwd.h"

namespace weft::tools {

struct ConvertFlags {
  std::string to;  // empty: no conversion
  bool keep_io = false;
  std::vector<std::string> keep;  // operators or nodes
};

// --convert, --keep-io and --keep, on one line of the help.
void AddConvertFlags(CLI::App& app, ConvertFlags* flags);
absl::Status CheckConvertFlags(const ConvertFlags& flags);
// As a shell takes them, each with a space before it.
std::string FlagsText(const ConvertFlags& flags);

// The opset to write a converted model with where the user names none and it would be `opset`: 22 for
// bf16 where that has it for more of the model's operators, with a warning, because casts around each
// of the others make a model slower than in f32.
int64_t OpsetToConvertIn(const ConvertFlags& flags, ir::Program& program, int64_t opset);

// A conversion of a model that is written for one opset.
class Conversion {
 public:
  Conversion(const ConvertFlags& flags, int64_t opset) : flags_(flags), opset_(opset) {}

  // The options of the pass, which refer to this object; nothing without --convert.
  std::optional<passes::ConvertFloatsOptions> options();
  // On stderr: what was converted, which weights did not fit, and per output the largest difference
  // between the two programs on random inputs (seed 1), or why there is none.
  void Report(const ir::Program& before, const ir::Program& after,
              const std::vector<passes::PassReport>& reports) const;

 private:
  const ConvertFlags& flags_;
  const int64_t opset_;
  std::set<std::string> refused_;  // operators without the type in the opset
};

}  // namespace weft::tools
