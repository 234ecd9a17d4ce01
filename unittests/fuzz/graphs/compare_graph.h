// What every way to run a program must agree on: as it is and after each pipeline, on the reference
// kernels and on those that a session picks, and after it was written as ONNX and read again.
//
//   GraphCheck check(*program, seed);
//   for (const Leg& leg : AllLegs())
//     if (const std::string difference = check.Difference(leg); !difference.empty()) ...
//
// Rewritten within the numeric class `exact`, a program must keep every bit (a NaN may become another
// NaN) on the same kernels, on special values too. Otherwise an output may differ by as much as
// rounding explains: by what a change of the inputs, of constants or of what is computed in between, in
// their last places, does to it.
// In f16 and bf16 it may be what the reference kernels give where a session does not round in between
// (ir/analysis/widen_floats.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/dim/dim_expr.h"
#include "ir/program.h"
#include "kernels/tensor.h"
#include "unittests/fuzz/graphs/legs.h"
#include "unittests/fuzz/graphs/random_values.h"

namespace weft::fuzz {

class GraphCheck {
 public:
  // The program stays as it is and must outlive the check. Inputs follow from the seed, and where the
  // program has symbols from their sizes. `passes` are for programs of its context; null: of its own.
  GraphCheck(ir::Program& program, uint64_t seed, std::vector<ir::DimBinding> sizes = {},
             std::shared_ptr<LegPasses> passes = nullptr);
  // Why the program itself cannot be compared: it does not run on the inputs. Empty: it does.
  const std::string& why_not() const { return why_not_; }

  // Empty when both agree, or when the leg is not for this program (no form in ONNX, an element type
  // that sessions widen); then *compared, if given, is not counted up.
  std::string Difference(const Leg& leg, int* compared = nullptr);
  // The same of a program that something else has made of it, run as the leg says.
  std::string DifferenceOf(ir::Program& rewritten, const Leg& leg) const;
  // How often each rule was applied by all legs so far.
  const std::map<std::string, uint64_t>& applied() const { return applied_; }

 private:
  using Tensors = std::vector<kernels::Tensor>;
  struct InputSet {
    std::string name;
    Tensors inputs;
    std::optional<Tensors> reference, automatic;  // of the program as it is; none: it fails
    std::vector<Tensors> perturbed;               // on inputs that differ in their last places
  };

  void AddInputSet(const std::string& name, uint64_t seed, Contents contents);
  std::vector<Tensors> RunWithOtherRounding(const InputSet& set) const;
  std::string Compare(const Leg& leg, const InputSet& set, const Tensors& expected,
                      const Tensors& actual, const std::vector<Tensors>& other_rounding = {}) const;

  ir::Program& program_;
  std::vector<ir::DimBinding> sizes_;
  std::shared_ptr<LegPasses> passes_;
  std::vector<InputSet> sets_;
  std::map<std::string, uint64_t> applied_;
  std::string why_not_;
  bool widened_ = false;  // sessions compute it in another element type than it says
};

}  // namespace weft::fuzz
