// A program before and after its passes on the same random inputs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "drr/rule/numeric_class.h"
#include "ir/base/status.h"
#include "ir/program.h"
#include "kernels/runtime/session.h"
#include "kernels/runtime_value.h"
#include "weft/check/compare.h"
#include "weft/check/random_run.h"

namespace weft {

struct CheckOptions {
  int inputs = 3;                        // sets of random inputs, from 1 to kMaxCheckInputs
  std::optional<double> tolerance = {};  // in place of what the numeric class allows
  std::function<bool()> stop = nullptr;  // asked before each run; true ends in Cancelled
  SizesOfSymbols sizes = {};
};
inline constexpr int kMaxCheckInputs = 1000;

struct ComparedOutput {
  std::string name;
  Comparison worst;  // over all inputs
};

// The outputs of a program, which others that were made from it are to have, too. What that means is
// said by the numeric class of the run that makes them:
//   exact                every bit on reference kernels, but a NaN is any other NaN
//   reassociates         what Compare() allows without a tolerance, on the kernels of "auto"
//   approximate          1e-3 of the largest element
//   changes-meaning      differences are told and nothing is judged
// Sizes that are symbols are chosen, with which the program runs: of those that are given, else small
// ones. Operations that no kernel runs are taken for functions that nothing is known of: what they read
// is compared as if it were returned, and what they make is random.
class ProgramCheck {
 public:
  // Runs the original. Unsupported where it cannot run, with the reason, and where an operation that no
  // kernel runs is inside of another one.
  static absl::StatusOr<ProgramCheck> Create(const CheckOptions& options,
                                             drr::NumericClass numerics, ir::Program& original,
                                             int threads);

  // How many inputs there are and what is allowed: a line.
  static std::string Terms(const CheckOptions& options, drr::NumericClass numerics);
  // The operations of the program, in regions too, that no kernel of such a check runs.
  static absl::StatusOr<std::vector<ir::Operation>> WithoutKernel(const CheckOptions& options,
                                                                  drr::NumericClass numerics,
                                                                  ir::Program& program);
  // What else is to be known: a line or two, or nothing.
  const std::string& Preface() const { return preface_; }
  // A line per output, with the largest difference over all inputs, goes to `text`. CheckFailed when
  // an output differs too much or `after` does not run; Unsupported when nothing can be compared;
  // Cancelled by `stop`, as Create is.
  // What was compared is appended to `compared`, which may be null.
  absl::Status Judge(ir::Program& after, std::string* text,
                     std::vector<ComparedOutput>* compared = nullptr) const;

 private:
  using Values = std::vector<kernels::RuntimeValue>;
  struct Sample {
    Values inputs, outputs;
  };

  struct Missing {  // an operation of the body that no kernel runs
    std::string name, location;
    ir::AttrDict attrs;
    std::vector<ir::DataType> element_types;  // of its results
  };
  struct Output {
    std::string name;
    std::optional<double> step;  // see OutputSteps()
  };

  ProgramCheck(const CheckOptions& options, drr::NumericClass numerics, int threads);
  bool IsExact() const { return numerics_ == drr::NumericClass::kExact && !tolerance_; }
  kernels::SessionOptions Options() const;
  std::string Contract() const;
  absl::StatusOr<std::vector<ir::Operation>> MissingIn(ir::Program& program) const;
  // Those of the program that was made, in the order of the original's.
  absl::StatusOr<std::vector<ir::Operation>> Match(std::vector<ir::Operation> ops) const;
  absl::Status AskStop() const;
  absl::Status AddSample(ir::Program& program, uint64_t seed, std::string* sizes);
  absl::StatusOr<Comparison> CompareOutput(const Sample& sample, size_t output,
                                           const kernels::RuntimeValue& actual) const;
  absl::StatusOr<std::vector<Values>> RunAll(ir::Program& program) const;

  drr::NumericClass numerics_ = drr::NumericClass::kExact;
  std::optional<double> tolerance_;
  std::function<bool()> stop_;
  SizesOfSymbols sizes_;
  int threads_ = 1;
  std::string preface_;
  std::vector<Missing> missing_;
  std::vector<Output> outputs_;
  std::vector<Sample> samples_;
};

}  // namespace weft
