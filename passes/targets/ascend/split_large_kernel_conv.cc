// split-large-kernel-conv: a convolution whose kernel is larger than 192 along some dimension becomes
// a sum of convolutions with parts of it. Seed: ascend_knowledge_base.md, SplitLargeKernelConv.
//
//   conv(x, w, b)  =>  conv(x[..], w[:112], b) + conv(x[..], w[112:])        for a kernel of 201
//
// Each part reads x from where its first element would, with what is left of the pads. A part that
// only ever reads padding adds nothing and is left out, which the seed misses: its slice of x would
// be empty and the result of another size.
#include <algorithm>
#include <optional>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/infer/auto_pad.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/nn/conv.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "passes/pass_registry.h"
#include "passes/targets/ascend/constant_slice.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;

constexpr int64_t kUnit = 16;      // what the hardware counts kernels in
constexpr int64_t kMaxUnits = 12;  // of one convolution: 192 elements

// Elements [begin, end) of the kernel along one dimension, and what they read of x.
struct Part {
  int64_t begin, end;
  int64_t first = 0, last = 0;  // of x, as Slice counts: last is INT64_MAX or negative
  int64_t pad_before = 0, pad_after = 0;
};

// Equal parts of whole units, as few as fit; those that read x.
std::vector<Part> PartsOf(int64_t kernel, int64_t size, int64_t pad_before, int64_t pad_after) {
  const int64_t units = (kernel - 1) / kUnit + 1;
  const int64_t count = (units - 1) / kMaxUnits + 1;
  const int64_t length = ((units - 1) / count + 1) * kUnit;
  std::vector<Part> parts;
  for (int64_t begin = 0; begin < kernel; begin += length) {
    const int64_t end = std::min(begin + length, kernel);
    const int64_t skipped_before = begin - pad_before, more_after = pad_after - (kernel - end);
    if (skipped_before >= size || more_after <= -size) continue;
    parts.push_back({begin, end, std::max<int64_t>(0, skipped_before),
                     more_after < 0 ? more_after : INT64_MAX, std::max<int64_t>(0, -skipped_before),
                     std::max<int64_t>(0, more_after)});
  }
  return parts;
}

bool AllOnes(const std::optional<ir::Ints>& list) {
  return !list || std::all_of(list->begin(), list->end(), [](int64_t i) { return i == 1; });
}

// The parts of each spatial dimension; nothing for a convolution that stays.
std::optional<std::vector<std::vector<Part>>> PartsOf(ir::Operation conv) {
  const auto attrs = conv.attrs_of<ops::Conv>();
  const ir::Type x = conv.operand(0).type(), w = conv.operand(1).type();
  if (attrs.auto_pad != ops::AutoPad::kNotSet || !AllOnes(attrs.strides) ||
      !AllOnes(attrs.dilations) || !x.HasRank() || !ir::Contents(conv.operand(1)))
    return std::nullopt;
  const size_t rank = w.rank() - 2;
  const bool has_pads = attrs.pads && !attrs.pads->empty();
  const ir::Ints pads = has_pads ? *attrs.pads : ir::Ints(2 * rank, 0);
  std::vector<std::vector<Part>> parts;
  bool large = false;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t size = x.dims()[i + 2], kernel = w.dims()[i + 2];
    large |= kernel > kUnit * kMaxUnits;
    if (!ir::IsStaticDim(size)) return std::nullopt;
    parts.push_back(PartsOf(kernel, size, pads[i], pads[rank + i]));
    if (parts.back().empty()) return std::nullopt;
  }
  if (!large) return std::nullopt;
  return parts;
}

class SplitLargeKernelConv : public Pass {
 public:
  SplitLargeKernelConv()
      : Pass("split-large-kernel-conv", "convolutions with kernels of at most 192 elements a side",
             {.seed = "ascend", .numerics = drr::NumericClass::kReassociates}) {}

  absl::Status Run(ir::Program& program) override {
    ir::Rewriter rewriter(&program);
    ir::Walk(program, [&](ir::Operation op) {
      if (!op.Is<ops::Conv>()) return;
      if (const auto parts = PartsOf(op)) Split(rewriter, op, *parts);
    });
    return absl::OkStatus();
  }

 private:
  // One convolution for every choice of a part per dimension; the first has the bias.
  void Split(ir::Rewriter& rewriter, ir::Operation conv,
             const std::vector<std::vector<Part>>& parts) {
    rewriter.SetInsertionPoint(conv);
    rewriter.set_location(conv.location());
    std::vector<ir::Value> terms;
    std::vector<size_t> choice(parts.size(), 0);
    for (bool more = true; more;) {
      std::vector<Part> chosen;
      for (size_t i = 0; i < parts.size(); ++i) chosen.push_back(parts[i][choice[i]]);
      terms.push_back(Term(rewriter, conv, chosen, terms.empty()));
      more = false;
      for (size_t i = parts.size(); i > 0 && !more; --i) {
        more = ++choice[i - 1] < parts[i - 1].size();
        if (!more) choice[i - 1] = 0;
      }
    }
    rewriter.Replace(conv, {terms.size() == 1 ? terms[0] : rewriter.Make<ops::Sum>(terms)});
    Count("convolutions split");
    MarkChanged();
  }

  static ir::Value Term(ir::Rewriter& rewriter, ir::Operation conv, const std::vector<Part>& parts,
                        bool with_bias) {
    const ir::Attribute weights = ir::ConstantValue(conv.operand(1));
    ir::Ints begins(2, 0),
        sizes(weights.dense_type().dims().begin(), weights.dense_type().dims().begin() + 2);
    ir::Ints starts, ends, axes, pads, pads_after, kernel;
    for (size_t i = 0; i < parts.size(); ++i) {
      const Part& part = parts[i];
      begins.push_back(part.begin);
      sizes.push_back(part.end - part.begin);
      kernel.push_back(part.end - part.begin);
      pads.push_back(part.pad_before);
      pads_after.push_back(part.pad_after);
      if (part.first == 0 && part.last == INT64_MAX) continue;
      starts.push_back(part.first);
      ends.push_back(part.last);
      axes.push_back(static_cast<int64_t>(i) + 2);
    }
    pads.insert(pads.end(), pads_after.begin(), pads_after.end());
    ir::Value x = conv.operand(0);
    if (!axes.empty())
      x = rewriter.Make<ops::Slice>({x, rewriter.ConstantInts(starts), rewriter.ConstantInts(ends),
                                     rewriter.ConstantInts(axes)});
    std::vector<ir::Value> operands = {x, rewriter.Constant(SliceConstant(weights, begins, sizes))};
    if (with_bias && conv.HasOperand(2)) operands.push_back(conv.operand(2));
    return rewriter.Make<ops::Conv>(
        operands,
        {.group = conv.attrs_of<ops::Conv>().group, .kernel_shape = kernel, .pads = pads});
  }
};
WEFT_REGISTER_PASS(SplitLargeKernelConv);

}  // namespace
}  // namespace weft::passes
