// Which kernel runs an op where several could, as it was measured on one machine: what Tune()
// (kernels/tuning/tuner.h) finds and a session reads (SessionOptions::choices). Where nothing was chosen
// the order of the providers decides (kernels/runtime/registry.h).
//
// As text, which may be kept beside a model, a line for each op with its attributes and types:
//
//   weft kernel choices 1
//   machine: Intel(R) Xeon(R) Processor; amx; 2 threads
//   fused.linear {activation:"none"} (f32[1,768], const f32[768,768]) -> f32[1,768]: native avx512 1.31
//
// and behind it the provider, the instruction set of our own kernels ("-": that of the session), and how
// many times as fast as without the choice.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "ir/base/status.h"
#include "kernels/kernel.h"

namespace weft::kernels {

struct KernelChoice {
  std::string provider;
  std::string isa = {};  // empty: that of the session
};

struct MeasuredChoice {
  KernelChoice choice;
  double speedup = 1;
};

class KernelChoices {
 public:
  // None, for MachineName() as it is.
  explicit KernelChoices(std::string machine) : machine_(std::move(machine)) {}
  // One for every op: what a tuner measures.
  static KernelChoices Everywhere(KernelChoice choice);
  // InvalidArgument, with the number of the line, for what is no such table, or names another provider than
  // one of `providers`, if there are some; the text begins on that line of a file.
  static absl::StatusOr<KernelChoices> Parse(std::string_view text, size_t first_line = 1,
                                             std::span<const std::string> providers = {});
  std::string ToText() const;

  // What it was measured on, see MachineName().
  const std::string& machine() const { return machine_; }
  size_t size() const { return by_key_.size(); }
  void Set(std::string key, MeasuredChoice choice) { by_key_[std::move(key)] = std::move(choice); }
  // Null where nothing was chosen.
  const KernelChoice* Find(const KernelContext& context) const;
  const KernelChoice* Find(std::string_view key) const;

 private:
  std::string machine_;
  std::map<std::string, MeasuredChoice, std::less<>> by_key_;
  std::optional<KernelChoice> everywhere_;
};

// What a choice is for: the op, its attributes and types, and which operands are constants. Empty for ops
// with regions, of which nothing is chosen.
std::string KernelKey(const KernelContext& context);

// What choices hold for: the CPU, the instruction set in use and the number of threads.
std::string MachineName(int threads);

}  // namespace weft::kernels
