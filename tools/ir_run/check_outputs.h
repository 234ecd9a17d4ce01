// ir-run --compare and --expect: the outputs of a run next to those of another one, or of files.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "ir/base/status.h"
#include "kernels/runtime/session.h"
#include "tools/ir_run/runner.h"
#include "weft/check/compare.h"
#include "weft/io/model_io.h"

namespace weft::tools {

struct ComparisonFlags {
  std::string with;                 // reference, or a model's file
  std::vector<std::string> expect;  // NAME=FILE
  std::optional<double> tolerance;
};

absl::Status CheckComparisonFlags(const ComparisonFlags& flags);

// The outputs of one run, and what is compared with them: a line per output.
class OutputCheck {
 public:
  // `steps` are those of the model as it is (OutputSteps). All must outlive this. Lines go to `lines`.
  OutputCheck(const Runner& runner, const std::vector<kernels::RuntimeValue>& inputs,
              const std::vector<std::optional<double>>& steps, std::optional<double> tolerance,
              std::FILE* lines)
      : runner_(runner), inputs_(inputs), steps_(steps), tolerance_(tolerance), lines_(lines) {}

  // The same program, as it is, on reference kernels and one thread.
  absl::Status WithReference(const ir::Program& original);
  // Another model as it is, on kernels of the same choice: it reads the inputs of its names and must
  // have an output of every name. InvalidArgument when it has an input more or an output less.
  absl::Status WithModel(ir::IrContext& context, const std::string& path, const LoadOptions& load,
                         const kernels::SessionOptions& options);
  absl::Status WithFiles(ir::IrContext& context, const std::vector<std::string>& files);

  // CheckFailed when anything differed too much.
  absl::Status Verdict() const;

  struct Compared {
    std::string output;
    double relative = 0;  // Comparison::relative
    std::string text;     // in words
  };
  const std::vector<Compared>& compared() const { return compared_; }  // until now

 private:
  absl::Status Check(size_t output, const kernels::RuntimeValue& expected, const std::string& with);

  const Runner& runner_;
  const std::vector<kernels::RuntimeValue>& inputs_;
  const std::vector<std::optional<double>>& steps_;
  std::optional<double> tolerance_;
  std::FILE* lines_;
  Disagreement disagreement_;
  std::vector<Compared> compared_;
};

}  // namespace weft::tools
