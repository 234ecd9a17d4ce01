#include "unittests/fuzz/graphs/compare_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "ir/analysis/verifier.h"
#include "ir/analysis/widen_floats.h"
#include "ir/walk.h"
#include "kernels/reference/reference.h"
#include "kernels/runtime/session.h"
#include "tools/onnx/export.h"
#include "tools/onnx/import.h"
#include "unittests/fixtures/numeric.h"
#include "unittests/fuzz/fuzz_util.h"
#include "unittests/fuzz/graphs/perturb_program.h"

namespace weft::fuzz {
namespace {

using kernels::Tensor;
using kernels::TensorView;
using Tensors = std::vector<Tensor>;

// A Loop may be told to run for ever. What the graph takes as it is it may take many times rewritten.
constexpr int64_t kMaxOperations = 1'000'000, kMaxOperationsRewritten = 100 * kMaxOperations;

absl::StatusOr<Tensors> RunOn(ir::Program& program, const std::string& provider,
                              const Tensors& inputs,
                              int64_t max_operations = kMaxOperationsRewritten) {
  WEFT_ASSIGN_OR_RETURN(const auto session,
                        kernels::Session::Create(program, {.provider = provider}));
  std::vector<TensorView> views;
  for (const Tensor& input : inputs) views.push_back(input.view());
  session->set_stop(
      [max_operations, count = int64_t{0}]() mutable { return ++count > max_operations; });
  return session->Run(views);
}

// Through a file; Unimplemented for what ONNX has no form for.
absl::StatusOr<std::unique_ptr<ir::Program>> ExportAndImport(ir::Program& program) {
  const ScratchFile file(".onnx");
  WEFT_RETURN_IF_ERROR(onnx::ExportOnnx(program, file.path()));
  WEFT_ASSIGN_OR_RETURN(auto again, onnx::ImportOnnx(*program.context(), file.path()));
  WEFT_RETURN_IF_ERROR(ir::Verify(*again));
  return again;
}

std::vector<double> Doubles(const Tensor& tensor) {
  return kernels::reference::ReadDoubles(tensor.view());
}

bool SameTypes(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.dims() == b.dims();
}

// The first element that is another; a NaN is as good as another.
std::string BitDifference(const Tensor& expected, const Tensor& actual) {
  if (std::memcmp(expected.view().data, actual.view().data, expected.view().NumBytes()) == 0)
    return "";
  if (!ir::IsFloat(expected.dtype())) return "other elements";
  const std::vector<double> want = Doubles(expected), got = Doubles(actual);
  for (size_t i = 0; i < want.size(); ++i) {
    const bool same = want[i] == got[i] && std::signbit(want[i]) == std::signbit(got[i]);
    if (!same && !(std::isnan(want[i]) && std::isnan(got[i])))
      return fmt::format("element {} is {:.9g} and should be {:.9g}", i, got[i], want[i]);
  }
  return "";
}

// How far an element may move: by a multiple of what it moved by when inputs did, and by what
// rounding makes of the largest element. Infinite where a change of inputs changes what it is, and of all elements where
// one moves by more than any is: a quotient by what cancels may be infinite, too.
std::vector<double> AllowedDifferences(const std::vector<double>& base, bool is_integer,
                                       double rounding, const std::vector<Tensors>& perturbed,
                                       size_t output) {
  constexpr double kFactor = 16, kInf = std::numeric_limits<double>::infinity();
  double largest = 0;
  for (const double value : base)
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  std::vector<double> moved(base.size(), 0);
  for (const Tensors& tensors : perturbed) {
    const std::vector<double> other = Doubles(tensors[output]);
    if (other.size() != base.size()) return std::vector<double>(base.size(), kInf);
    for (size_t i = 0; i < base.size(); ++i) {
      const double by = std::fabs(other[i] - base[i]);
      moved[i] = std::isfinite(by) ? std::max(moved[i], by) : kInf;
    }
  }
  // Each element may be lucky, all of them are not.
  double most = 0;
  for (const double by : moved)
    if (std::isfinite(by)) most = std::max(most, by);
  if (!is_integer && most > largest) return std::vector<double>(base.size(), kInf);
  for (double& by : moved)
    by = is_integer ? (most > 0 ? kInf : 0) : kFactor * std::max(by, most) + rounding * largest;
  return moved;
}

bool IsLowPrecision(ir::Program& program) {
  bool found = false;
  const auto look = [&](ir::Value value) {
    const ir::Type type = value.type();
    found = found || (type.IsTensor() &&
                      (type.dtype() == ir::DataType::kF16 || type.dtype() == ir::DataType::kBF16));
  };
  for (const ir::Value argument : program.body().arguments()) look(argument);
  ir::Walk(program, [&](ir::Operation op) {
    for (const ir::Value result : op.results()) look(result);
  });
  return found;
}

}  // namespace

GraphCheck::GraphCheck(ir::Program& program, uint64_t seed, std::vector<ir::DimBinding> sizes,
                       std::shared_ptr<LegPasses> passes)
    : program_(program),
      sizes_(std::move(sizes)),
      passes_(passes ? std::move(passes) : std::make_shared<LegPasses>(program.context())),
      widened_(IsLowPrecision(program)) {
  AddInputSet("tame", 3 * seed, Contents::kTame);
  if (why_not_.empty()) AddInputSet("lattice", 3 * seed + 1, Contents::kLattice);
  if (why_not_.empty()) AddInputSet("special", 3 * seed + 2, Contents::kSpecial);
}

void GraphCheck::AddInputSet(const std::string& name, uint64_t seed, Contents contents) {
  constexpr int kPerturbed = 3;
  Random random(seed);
  InputSet set{.name = name};
  for (const ir::Value argument : program_.body().arguments()) {
    ir::Shape shape = argument.type().shape();
    for (int64_t& dim : shape) {
      dim = ir::SubstituteDim(dim, sizes_);
      if (!ir::IsStaticDim(dim)) {
        why_not_ = "the size of an input is not known";
        return;
      }
    }
    auto tensor = MakeTensor(argument.type().dtype(), shape, contents, random);
    if (!tensor.ok()) {
      why_not_ = ir::Message(tensor.status());
      return;
    }
    set.inputs.push_back(std::move(*tensor));
  }
  if (auto outputs = RunOn(program_, "reference", set.inputs, kMaxOperations); outputs.ok())
    set.reference = std::move(*outputs);
  else if (name == "tame")
    why_not_ = ir::Message(outputs.status());
  if (auto outputs = RunOn(program_, "auto", set.inputs, kMaxOperations); outputs.ok())
    set.automatic = std::move(*outputs);
  for (int i = 0; set.reference && name != "special" && i < kPerturbed; ++i) {
    Tensors inputs;
    for (const Tensor& input : set.inputs) inputs.push_back(Perturbed(input, random));
    // Where a change of inputs makes it fail, nothing is compared that is not exact.
    if (auto outputs = RunOn(program_, "reference", inputs); outputs.ok())
      set.perturbed.push_back(std::move(*outputs));
  }
  sets_.push_back(std::move(set));
}

// What is computed of constants alone rounds, too, and then no change of inputs moves it; nor does one
// move what rounds in between and cancels, as 1 + erf(x) does of a negative x.
std::vector<Tensors> GraphCheck::RunWithOtherRounding(const InputSet& set) const {
  constexpr int kTimes = 16;  // a value between two numbers goes to either of them each time
  std::vector<Tensors> all;
  Random random(1);
  for (int i = 0; i < kTimes; ++i)
    for (const auto& program :
         {WithPerturbedConstants(program_, random), WithPerturbedResults(program_, random)})
      if (auto outputs = RunOn(*program, "reference", set.inputs); outputs.ok())
        all.push_back(std::move(*outputs));
  return all;
}

std::string GraphCheck::Compare(const Leg& leg, const InputSet& set, const Tensors& expected,
                                const Tensors& actual,
                                const std::vector<Tensors>& other_rounding) const {
  if (expected.size() != actual.size()) return "another number of outputs";
  const double rounding = fixtures::RoundingTolerance(program_);
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string at = fmt::format("{} inputs, output {}: ", set.name, i);
    if (!SameTypes(expected[i], actual[i])) return at + "another type or shape";
    if (leg.IsExact()) {
      if (const std::string bits = BitDifference(expected[i], actual[i]); !bits.empty())
        return at + bits;
      continue;
    }
    const bool is_integer = !ir::IsFloat(expected[i].dtype());
    const std::vector<double> want = Doubles(expected[i]), got = Doubles(actual[i]);
    std::vector<double> allowed = AllowedDifferences(want, is_integer, rounding, set.perturbed, i);
    const std::vector<double> more =
        AllowedDifferences(want, is_integer, rounding, other_rounding, i);
    for (size_t k = 0; k < want.size(); ++k) allowed[k] = std::max(allowed[k], more[k]);
    for (size_t k = 0; k < want.size(); ++k) {
      if (!std::isfinite(want[k]) || std::isinf(allowed[k])) continue;
      if (!(std::fabs(got[k] - want[k]) <= allowed[k]))
        return at + fmt::format("element {} is {:.9g} and should be {:.9g}, allowed are {:.3g}", k,
                                got[k], want[k], allowed[k]);
    }
  }
  return "";
}

std::string GraphCheck::Difference(const Leg& leg, int* compared) {
  if (leg.IsExact() && leg.provider != "reference" && widened_) return "";
  std::unique_ptr<ir::Program> program = program_.Clone();
  if (const absl::Status s = passes_->Run(*program, leg, &applied_); !s.ok())
    return "the pipeline fails: " + std::string(ir::Message(s));
  if (leg.onnx) {
    auto again = ExportAndImport(*program);
    if (absl::IsUnimplemented(again.status())) return "";
    if (!again.ok()) return "ONNX: " + std::string(ir::Message(again.status()));
    program = std::move(*again);
  }
  std::string difference = DifferenceOf(*program, leg);
  if (compared != nullptr) ++*compared;
  return difference;
}

std::string GraphCheck::DifferenceOf(ir::Program& rewritten, const Leg& leg) const {
  for (const InputSet& set : sets_) {
    const bool is_auto = leg.IsExact() && leg.provider == "auto";
    const std::optional<Tensors>& expected = is_auto ? set.automatic : set.reference;
    const auto actual = RunOn(rewritten, leg.provider, set.inputs);
    if (!expected) continue;
    if (!actual.ok())
      return set.name + " inputs: it does not run: " + std::string(ir::Message(actual.status()));
    if (!leg.IsExact() && set.perturbed.empty()) continue;
    std::string difference = Compare(leg, set, *expected, *actual);
    if (!difference.empty() && !leg.IsExact())
      difference = Compare(leg, set, *expected, *actual, RunWithOtherRounding(set));
    // A session rounds f16 and bf16 less often, which a function with steps shows.
    if (!difference.empty() && !leg.IsExact() && leg.provider == "auto" && widened_) {
      const std::unique_ptr<ir::Program> widened = rewritten.Clone();
      ir::WidenFloats(*widened);
      if (const auto outputs = RunOn(*widened, "reference", set.inputs); outputs.ok())
        difference = Compare(leg, set, *outputs, *actual);
    }
    if (!difference.empty()) return difference;
  }
  return "";
}

}  // namespace weft::fuzz
