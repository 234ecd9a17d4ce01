// Measures which kernel is best for each op of a program where several run it: those of other providers,
// and our own on lower instruction sets. All are timed in place, while the whole program runs, in turns.
//
//   WEFT_ASSIGN_OR_RETURN(const Tuning tuning, Tune(program, options, inputs, {}));
//   options.choices = std::make_shared<KernelChoices>(tuning.choices);
//
// A choice is kept only where it is better beyond noise, and all of them only where the whole program is
// faster with them too: a tuned session is never slower than one that is not, but by chance.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"
#include "kernels/kernel_choices.h"
#include "kernels/runtime/session.h"

namespace weft::kernels {

struct TuneOptions {
  size_t rounds = 20, most_rounds = 400;  // of each kernel
  double seconds = 8;                     // about, between these
  // Our own kernels alone, whose sums have one order on each instruction set but amx.
  bool keeps_order = false;
  // Asked between runs; true ends with Cancelled.
  std::function<bool()> stop = nullptr;
};

// Ops of one KernelKey(), and what runs all of them together takes in a run of the program, a median.
struct MeasuredKernel {
  KernelChoice kernel;
  double microseconds = 0;
};
struct MeasuredOps {
  std::string key;
  MeasuredKernel usual;
  std::vector<MeasuredKernel> others;
};

struct Tuning {
  KernelChoices choices;
  size_t keys = 0;  // ops that differ in what KernelKey() says
  std::vector<MeasuredOps>
      several;  // of them those that more than one kernel runs, the longest first
  // Of all ops of a run as usual together, also of those that offer no choice, a median; 0 where there is none.
  double microseconds = 0;
  // Of a run as a whole without choices and with them, medians of runs in turns; equal where none is kept.
  double usual_ms = 0, tuned_ms = 0;
};

// `options` must have no choices. Inputs as of Session::RunValues.
absl::StatusOr<Tuning> Tune(const ir::Program& program, const SessionOptions& options,
                            std::span<const RuntimeValue> inputs, const TuneOptions& tune);

// Whether times of something, measured in turns with those of what is usual, are lower beyond noise: by
// this part in the median, and in four of five turns.
bool IsFasterBeyondNoise(std::span<const double> usual, std::span<const double> other,
                         double least = 0.03);
double Median(std::span<const double> times);
// Milliseconds of run(0) to run(count - 1) in every round, by contender. Each round begins with another one, so
// that none always runs after the same. Before each run, and not timed: `prepare`, if there is one. Ends with the first
// error, or as tune.stop says.
absl::StatusOr<std::vector<std::vector<double>>> TimeInTurns(
    size_t count, const TuneOptions& tune, const std::function<absl::Status(size_t)>& run,
    const std::function<void(size_t)>& prepare = nullptr);

}  // namespace weft::kernels
