// What fold-dynamic-reshape cannot derive, believed after a few samples: a target shape that is the
// same function of the sizes, one of those that Reshape can say, for every choice of sizes within
// the ranges that the user gives. Seed: ascend_knowledge_base.md, DynamicReshape, with its ranges.
//
// The seed runs the model three times on random sizes, which may coincide. Here no two symbols have
// one size in a sample, sizes are spread over the ranges, the ends among them, and only types are
// inferred: a target that depends on data is never touched. Still samples, so approximate.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "ir/analysis/constant.h"
#include "ir/analysis/shape_inference.h"
#include "ir/dialects/onnx/infer/shape_value.h"
#include "ir/dialects/onnx/shape.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "passes/pass_registry.h"
#include "passes/targets/ascend/dim_range.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;

constexpr size_t kSamples = 7;
constexpr size_t kSizes = 64;  // of a range that samples choose from

// A reshape in one sample.
struct Observation {
  ir::Shape data;
  ir::Ints target;
};
using Observations = std::vector<std::optional<Observation>>;  // per reshape, in program order

std::vector<ir::Operation> Reshapes(ir::Program& program) {
  std::vector<ir::Operation> reshapes;
  ir::Walk(program, [&](ir::Operation op) {
    if (op.Is<ops::Reshape>()) reshapes.push_back(op);
  });
  return reshapes;
}

std::optional<Observation> Observe(ir::Operation reshape) {
  const ir::Type data = reshape.operand(0).type();
  const auto target = ir::EvaluateShapeValue(reshape.operand(1));
  if (!data.IsStatic() || !target) return std::nullopt;
  Observation seen{data.shape(), {}};
  for (const ir::ShapeEntry& entry : *target) {
    if (!entry.is_number) return std::nullopt;
    seen.target.push_back(entry.value);
  }
  return seen;
}

// A size for every range; as few as possible are equal.
std::map<std::string, int64_t> Choose(const std::vector<DimRange>& ranges, size_t sample) {
  std::map<std::string, int64_t> sizes;
  std::set<int64_t> taken;
  for (size_t r = 0; r < ranges.size(); ++r) {
    const std::vector<int64_t> all = ranges[r].Sizes(kSizes);
    // The ends first, then what lies between; each range begins elsewhere.
    size_t at = sample == 0 ? 0 : sample == 1 ? all.size() - 1 : (sample * 11 + r * 5) % all.size();
    for (size_t tries = 1; tries < all.size() && taken.count(all[at]); ++tries)
      at = (at + 1) % all.size();
    taken.insert(all[at]);
    sizes[ranges[r].name] = all[at];
  }
  return sizes;
}

// The entries that give the target in every sample: a number, 0 for the size of the data at that
// place, and one -1.
std::optional<ir::Ints> TargetOf(const std::vector<Observations>& samples, size_t reshape) {
  for (const Observations& sample : samples) {
    if (!sample[reshape]) return std::nullopt;
    const Observation& seen = *sample[reshape];
    if (seen.target.size() != samples[0][reshape]->target.size()) return std::nullopt;
    for (const int64_t size : seen.data)
      if (size == 0) return std::nullopt;
  }
  const auto all = [&](auto predicate) {
    return std::all_of(samples.begin(), samples.end(),
                       [&](const Observations& s) { return predicate(*s[reshape]); });
  };
  const Observation& first = *samples[0][reshape];
  ir::Ints target;
  for (size_t i = 0; i < first.target.size(); ++i) {
    const bool same = all([&](const Observation& s) { return s.target[i] == first.target[i]; });
    const bool copied = all([&](const Observation& s) {
      return i < s.data.size() && (s.target[i] == s.data[i] || s.target[i] == 0);
    });
    target.push_back(same ? first.target[i] : copied ? 0 : -1);
  }
  if (std::count(target.begin(), target.end(), -1) > 1) return std::nullopt;
  return target;
}

class SampledDynamicReshape : public Pass {
 public:
  SampledDynamicReshape()
      : Pass("sampled-dynamic-reshape",
             "reshape(x, s) => reshape(x, constant), where samples of the sizes in --dim-range "
             "agree",
             {.seed = "ascend", .numerics = drr::NumericClass::kApproximate}) {}

  absl::Status Initialize(ir::IrContext&, const PassContext& run) override {
    if (const auto* given = run.options.Get<SampledDynamicReshapeOptions>())
      ranges_ = given->dim_ranges;
    return absl::OkStatus();
  }

  absl::Status Run(ir::Program& program) override {
    std::vector<ir::Operation> computed = Reshapes(program);
    const auto is_done = [](ir::Operation op) {
      return ir::IsConstant(op.operand(1)) || op.attrs_of<ops::Reshape>().allowzero != 0;
    };
    if (std::all_of(computed.begin(), computed.end(), is_done)) return absl::OkStatus();
    if (ranges_.empty())
      return ir::InvalidArgument("give the sizes of its symbolic dimensions: --dim-range n=1..64");
    std::vector<Observations> samples;
    for (size_t i = 0; i < kSamples; ++i) {
      WEFT_ASSIGN_OR_RETURN(Observations seen, Sample(program, i));
      samples.push_back(std::move(seen));
    }
    ir::Rewriter rewriter(&program);
    for (size_t i = 0; i < computed.size(); ++i) {
      if (is_done(computed[i])) continue;
      const auto target = TargetOf(samples, i);
      if (!target) continue;
      rewriter.SetInsertionPoint(computed[i]);
      rewriter.SetOperand(computed[i], 1, rewriter.ConstantInts(*target));
      Count("targets made constant");
      MarkChanged();
    }
    return absl::OkStatus();
  }

 private:
  // Fails when a range has no such dimension, or its sizes contradict the program.
  absl::StatusOr<Observations> Sample(const ir::Program& program, size_t sample) const {
    const std::unique_ptr<ir::Program> copy = program.Clone();
    for (const auto& [name, size] : Choose(ranges_, sample))
      WEFT_RETURN_IF_ERROR(ir::SetDim(*copy, name, size));
    WEFT_RETURN_IF_ERROR(ir::PropagateTypes(*copy));
    Observations seen;
    for (const ir::Operation reshape : Reshapes(*copy)) seen.push_back(Observe(reshape));
    return seen;
  }

  std::vector<DimRange> ranges_;
};
WEFT_REGISTER_PASS(SampledDynamicReshape);

}  // namespace
}  // namespace weft::passes
