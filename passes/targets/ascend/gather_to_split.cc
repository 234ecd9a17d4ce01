// gather-to-split: when all that is read of a value is neighbouring entries of one axis, taken by
// constant indices, one Split gives them all. Seed: ascend_knowledge_base.md, GatherToSplit.
//
//   gather(x, 0), gather(x, [2, 3])  =>  (a, b, c) = split(x, [1, 1, 2]); squeeze(a), c
//
// A pass and not a rule: the number of users is free, and there must be no other user. Equal
// gathers share a part; overlapping ones are left alone. The seed counts an index that is one too
// large as right.
#include <algorithm>
#include <optional>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/shape.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;

// Entries [begin, end) of an axis.
struct Part {
  int64_t begin, end;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the comparison for a null pointer
  friend auto operator<=>(const Part&, const Part&) = default;
};
struct GatherUse {
  ir::Operation gather;
  Part part;
};
// How a value is read.
struct Reading {
  int64_t axis = -1, size = 0;
  std::vector<GatherUse> uses;
};

// The part that constant indices name; nothing when they are not in a row.
std::optional<Part> PartOf(ir::Value indices, int64_t size) {
  const auto ints = ir::ConstantInts(indices);
  if (!ints || ints->empty() || indices.type().rank() > 1) return std::nullopt;
  const auto normal = [size](int64_t i) { return i < 0 ? i + size : i; };
  const int64_t begin = normal(ints->front()), count = static_cast<int64_t>(ints->size());
  if (begin < 0 || begin > size - count) return std::nullopt;
  for (int64_t i = 0; i < count; ++i)
    if (normal((*ints)[i]) != begin + i) return std::nullopt;
  return Part{begin, begin + count};
}

std::optional<Reading> ReadingOf(ir::Value value) {
  if (value.use_count() < 2 || !value.type().HasRank()) return std::nullopt;
  const auto rank = static_cast<int64_t>(value.type().rank());
  Reading reading;
  for (ir::OpOperand use : value.uses()) {
    const ir::Operation gather = use.owner();
    if (!gather.Is<ops::Gather>() || use.index() != 0) return std::nullopt;
    const int64_t axis = ir::NormalAxis(gather.attrs_of<ops::Gather>().axis, value.type().rank());
    if (axis < 0 || axis >= rank || (reading.axis >= 0 && axis != reading.axis))
      return std::nullopt;
    reading.axis = axis;
    reading.size = value.type().dims()[axis];
    if (!ir::IsStaticDim(reading.size)) return std::nullopt;
    const auto part = PartOf(gather.operand(1), reading.size);
    if (!part) return std::nullopt;
    reading.uses.push_back({gather, *part});
  }
  return reading;
}

// All parts in order, those between them that have no user included; nothing when they overlap or
// there is only one.
std::optional<std::vector<Part>> PartsOf(const Reading& reading) {
  std::vector<Part> read, all;
  for (const GatherUse& use : reading.uses) read.push_back(use.part);
  std::sort(read.begin(), read.end());
  read.erase(std::unique(read.begin(), read.end()), read.end());
  int64_t end = 0;
  for (const Part& part : read) {
    if (part.begin < end) return std::nullopt;
    if (part.begin > end) all.push_back({end, part.begin});
    all.push_back(part);
    end = part.end;
  }
  if (end < reading.size) all.push_back({end, reading.size});
  if (all.size() < 2) return std::nullopt;
  return all;
}

class GatherToSplit : public Pass {
 public:
  GatherToSplit()
      : Pass("gather-to-split", "gathers of neighbouring entries become one split",
             {.seed = "ascend"}) {}

  absl::Status Run(ir::Program& program) override {
    std::vector<ir::Value> values;
    const auto body = program.body();
    for (uint32_t i = 0; i < body.num_arguments(); ++i) values.push_back(body.argument(i));
    ir::Walk(program, [&](ir::Operation op) {
      for (ir::Value result : op.results()) values.push_back(result);
    });
    ir::Rewriter rewriter(&program);
    for (ir::Value value : values)
      if (value.IsAlive()) Split(value, rewriter);
    return absl::OkStatus();
  }

 private:
  void Split(ir::Value value, ir::Rewriter& rewriter) {
    const auto reading = ReadingOf(value);
    const auto parts = reading ? PartsOf(*reading) : std::nullopt;
    if (!parts) return;
    if (value.IsBlockArgument())
      rewriter.SetInsertionPointToStart(value.ParentBlock());
    else
      rewriter.SetInsertionPointAfter(value.DefiningOp());
    ir::Ints sizes;
    for (const Part& part : *parts) sizes.push_back(part.end - part.begin);
    const ir::Operation split =
        rewriter.Create<ops::Split>({value, rewriter.ConstantInts(sizes)}, {.axis = reading->axis},
                                    static_cast<int>(sizes.size()));
    for (const GatherUse& use : reading->uses) {
      const auto at = std::lower_bound(parts->begin(), parts->end(), use.part);
      ir::Value part = split.result(static_cast<uint32_t>(at - parts->begin()));
      rewriter.SetInsertionPoint(use.gather);
      if (use.gather.operand(1).type().rank() == 0)
        part = rewriter.Make<ops::Squeeze>({part, rewriter.ConstantInts({reading->axis})});
      rewriter.Replace(use.gather, {part});
    }
    Count("gathers replaced", reading->uses.size());
    MarkChanged();
  }
};
WEFT_REGISTER_PASS(GatherToSplit);

}  // namespace
}  // namespace weft::passes
