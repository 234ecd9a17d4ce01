// fuse-slices-into-split: slices that are together all of a value on one axis become one Split, as what
// exporters write for chunk and for the halves of a rotary embedding:
//   x[:, 0:2], x[:, 2:5], x[:, 5:6] => split(x, [2, 3, 1])
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "ir/dialects/onnx.h"
#include "ir/walk.h"
#include "passes/canonicalize/slice_range.h"
#include "passes/pass_registry.h"
#include "passes/rewrite_trace.h"

namespace weft::passes {
namespace {

using ir::Operation;
using ir::Value;
namespace ops = ir::ops;

struct Part {
  int64_t begin, end;  // 0 <= begin < end <= the size of the axis
  Operation slice;
};

// The slices of `x` in `block` that take one part of an axis of a known size, by that axis.
std::map<int64_t, std::vector<Part>> PartsOf(Value x, ir::Block block) {
  std::map<int64_t, std::vector<Part>> parts;
  const auto rank = static_cast<int64_t>(x.type().rank());
  for (const Operation user : x.users()) {
    if (!user.Is<ops::Slice>() || user.operand(0) != x || user.block() != block) continue;
    const std::optional<SliceRange> range = RangeOf(user);
    const int64_t axis = range ? ir::NormalAxis(range->axis, rank) : rank;
    if (axis < 0 || axis >= rank || !ir::IsStaticDim(x.type().dim(axis))) continue;
    const int64_t size = x.type().dim(axis);
    const auto place = [size](int64_t i) {
      return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size);
    };
    const Part part = {place(range->start), place(range->end), user};
    if (part.begin < part.end) parts[axis].push_back(part);
  }
  return parts;
}

// Where to cut [0, size) so that every piece is one of `parts`, into as many as can be: each piece's
// end, in order. Empty where that cannot be.
std::vector<int64_t> CutsOf(std::vector<Part> parts, int64_t size) {
  // From the last part to the first, so that what can follow a part is known before it.
  std::ranges::sort(parts, std::ranges::greater(), &Part::begin);
  struct Rest {
    size_t pieces = 0;
    int64_t first_end = 0;
  };
  std::map<int64_t, Rest> rest_from;
  rest_from[size] = {};
  for (const Part& part : parts) {
    const auto behind = rest_from.find(part.end);
    if (behind == rest_from.end()) continue;
    const Rest with = {behind->second.pieces + 1, part.end};
    Rest& rest = rest_from[part.begin];
    if (with.pieces > rest.pieces) rest = with;
  }
  std::vector<int64_t> cuts;
  if (!rest_from.contains(0)) return cuts;
  for (int64_t at = 0; at < size; at = cuts.back()) cuts.push_back(rest_from.at(at).first_end);
  return cuts;
}

class FuseSlicesIntoSplit : public Pass {
 public:
  FuseSlicesIntoSplit()
      : Pass("fuse-slices-into-split", "slices that are together all of a value become one Split") {
  }

  absl::Status Initialize(ir::IrContext&, const PassContext& pass_context) override {
    trace_ = pass_context.trace;
    return absl::OkStatus();
  }

  absl::Status Run(ir::Program& program) override {
    std::vector<Operation> slices;
    ir::Walk(program, [&](Operation op) {
      if (op.Is<ops::Slice>() && op.operand(0).type().HasRank()) slices.push_back(op);
    });
    TracedRewriter rewriter(program, trace_);
    std::set<std::pair<uint32_t, uint32_t>> seen;  // values, and blocks that slice them
    for (const Operation first : slices) {
      if (!first.IsAlive() || !seen.emplace(first.operand(0).id(), first.block().id()).second)
        continue;
      const Value x = first.operand(0);
      for (const auto& [axis, parts] : PartsOf(x, first.block())) {
        const std::vector<int64_t> cuts = CutsOf(parts, x.type().dim(axis));
        if (cuts.size() < 2) continue;
        if (rewriter.AtLimit()) return absl::OkStatus();
        Fuse(x, axis, parts, cuts, rewriter);
      }
    }
    return absl::OkStatus();
  }

 private:
  // Slices that are no piece stay.
  void Fuse(Value x, int64_t axis, const std::vector<Part>& parts, const std::vector<int64_t>& cuts,
            TracedRewriter& rewriter) {
    std::map<int64_t, uint32_t> piece_from;  // by where it begins
    ir::Ints sizes;
    for (int64_t begin = 0; const int64_t end : cuts) {
      piece_from.emplace(begin, static_cast<uint32_t>(sizes.size()));
      sizes.push_back(end - begin);
      begin = end;
    }
    std::vector<Part> pieces = parts;
    std::erase_if(pieces, [&](const Part& part) {
      const auto piece = piece_from.find(part.begin);
      return piece == piece_from.end() || part.end - part.begin != sizes[piece->second];
    });
    const Operation first = std::ranges::min(pieces, [](const Part& a, const Part& b) {
                              return a.slice.IsBefore(b.slice);
                            }).slice;
    rewriter.Begin("fuse", first);
    rewriter.SetInsertionPoint(first);
    rewriter.set_location(first.location());
    const Operation split = rewriter.Create<ops::Split>(
        {x, rewriter.ConstantInts(sizes)}, {.axis = axis}, static_cast<int>(sizes.size()));
    for (const Part& piece : pieces)
      rewriter.Replace(piece.slice, {split.result(piece_from.at(piece.begin))});
    rewriter.Commit();
    Count("slices fused", pieces.size());
    MarkChanged();
  }

  RewriteTrace* trace_ = nullptr;
};
WEFT_REGISTER_PASS(FuseSlicesIntoSplit);

}  // namespace
}  // namespace weft::passes
