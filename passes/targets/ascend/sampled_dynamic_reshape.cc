// What fold-dynamic-reshape cannot derive, believed after a few samples: a target shape that is the
// same function of the sizes, one of those that Reshape can say, for every choice of sizes within
// the ranges that the user gives. Seed: ascend_knowledge_base.md, DynamicReshape, with its ranges.
//
// The seed runs the model three times on random sizes, which may coincide. Here every combination of
// sizes is tried where they are few. Of many, there are some in which no two symbols have one size,
// and each range's ends alone and with the others alike. Only types are inferred: a target that
// depends on data is never touched. Still samples, so approximate.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "ir/analysis/constant.h"
#include "ir/analysis/shape_inference.h"
#include "ir/base/status.h"
#include "ir/dialects/onnx/infer/shape_value.h"
#include "ir/dialects/onnx/shape.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "passes/pass_registry.h"
#include "passes/targets/ascend/dim_range.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;

constexpr size_t kCombinations = 64;  // of sizes: all of them, if there are no more
constexpr size_t kApart = 5;          // samples in which sizes differ, if there are more
constexpr size_t kSizes = 64;         // of a range that those samples choose from

using Sample = std::vector<int64_t>;  // a size for every range

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

// None, where there are more than kCombinations.
std::vector<Sample> AllCombinations(const std::vector<DimRange>& ranges) {
  std::vector<Sample> samples = {{}};
  for (const DimRange& range : ranges) {
    const std::vector<int64_t> sizes = range.Sizes(kCombinations + 1);
    if (samples.size() * sizes.size() > kCombinations) return {};
    std::vector<Sample> longer;
    for (const Sample& sample : samples)
      for (const int64_t size : sizes) {
        longer.push_back(sample);
        longer.back().push_back(size);
      }
    samples = std::move(longer);
  }
  return samples;
}

// As few sizes as possible are equal; each range begins elsewhere.
Sample Apart(const std::vector<DimRange>& ranges, size_t number) {
  Sample sample;
  std::set<int64_t> taken;
  for (size_t r = 0; r < ranges.size(); ++r) {
    const std::vector<int64_t> all = ranges[r].Sizes(kSizes);
    size_t at = (number * 11 + r * 5) % all.size();
    for (size_t tries = 1; tries < all.size() && taken.count(all[at]); ++tries)
      at = (at + 1) % all.size();
    taken.insert(all[at]);
    sample.push_back(all[at]);
  }
  return sample;
}

bool Takes(const DimRange& range, int64_t size) {
  return size >= range.low && size <= range.high && size % range.step == 0;
}

std::vector<Sample> SamplesOf(const std::vector<DimRange>& ranges) {
  std::vector<Sample> samples = AllCombinations(ranges);
  if (!samples.empty()) return samples;
  for (size_t i = 0; i < kApart; ++i) samples.push_back(Apart(ranges, i + 2));
  const Sample middle = samples.front();
  for (size_t r = 0; r < ranges.size(); ++r)
    for (const int64_t size : {ranges[r].low, middle[r], ranges[r].high}) {
      Sample alone = middle, alike = middle;
      alone[r] = size;
      for (size_t i = 0; i < ranges.size(); ++i)
        if (Takes(ranges[i], size)) alike[i] = size;
      samples.push_back(std::move(alone));
      samples.push_back(std::move(alike));
    }
  return samples;
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
    for (const Sample& sizes : SamplesOf(ranges_)) {
      WEFT_ASSIGN_OR_RETURN(Observations seen, ObserveAll(program, sizes));
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
  absl::StatusOr<Observations> ObserveAll(const ir::Program& program, const Sample& sizes) const {
    std::map<std::string, int64_t> size_of;  // the last range of a name counts
    for (size_t r = 0; r < ranges_.size(); ++r) size_of[ranges_[r].name] = sizes[r];
    const std::unique_ptr<ir::Program> copy = program.Clone();
    std::string sample;
    for (const auto& [name, size] : size_of) {
      WEFT_RETURN_IF_ERROR(ir::SetDim(*copy, name, size));
      sample += fmt::format("{}{}={}", sample.empty() ? "with " : " ", name, size);
    }
    WEFT_RETURN_IF_ERROR(ir::Annotate(ir::PropagateTypes(*copy), sample));
    Observations seen;
    for (const ir::Operation reshape : Reshapes(*copy)) seen.push_back(Observe(reshape));
    return seen;
  }

  std::vector<DimRange> ranges_;
};
WEFT_REGISTER_PASS(SampledDynamicReshape);

}  // namespace
}  // namespace weft::passes
