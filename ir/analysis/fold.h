// Constant folding, one op at a time: computes a pure op whose operands are known with the
// evaluator of the run and puts constants in its place.
//
//   ConstantFolder folder(&evaluator, kFoldInProgram);
//   for (Operation op : ops)  // operands before their users: one sweep folds whole chains
//     if (op.IsAlive()) folder.Fold(op, rewriter);
//
// Random ops, ops for which there is no kernel and ops that fail (integers divided by zero) are
// left alone: their error belongs to run time, where its message has a place.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ir/base/status.h"
#include "ir/evaluator.h"
#include "ir/program.h"
#include "ir/rewriter.h"

namespace weft::ir {

// What is folded although somebody may not want it.
struct FoldOptions {
  bool dequantize =
      false;             // DequantizeLinear, with which a program says that a weight is quantised
  bool nullary = false;  // ops without operands
  // Ops that read shapes only, as soon as the types of their operands are static.
  bool shapes = false;
  // Ops that make much more data than they read (Expand, Tile, ConstantOfShape). Without it they
  // are held back: their users are folded where the result is small again, and when all are, the op
  // is erased as well.
  bool growth = false;
};
// Of a program that lives on, and of one that is about to run with static shapes.
inline constexpr FoldOptions kFoldInProgram = {};
inline constexpr FoldOptions kFoldForPlan = {
    .dequantize = true, .nullary = true, .shapes = true, .growth = true};

// Whether op is folded once its operands are known.
bool IsFoldable(Operation op, const FoldOptions& options);

class ConstantFolder {
 public:
  // The evaluator must outlive the folder. One folder per sweep over a program: it remembers the
  // results that it held back.
  ConstantFolder(Evaluator* evaluator, const FoldOptions& options)
      : evaluator_(*evaluator), options_(options) {}

  // Whether op was replaced by constants. Then it is erased, and so are operands that only it used.
  bool Fold(Operation op, Rewriter& rewriter) { return Fold(op, rewriter, options_.shapes); }
  // With FoldOptions::shapes for this op.
  bool Fold(Operation op, Rewriter& rewriter, bool shapes);

 private:
  bool CanFold(Operation op, bool shapes) const;
  bool ComputeHeldBackOperands(Operation op, bool shapes);
  absl::StatusOr<std::vector<Attribute>> Evaluate(Operation op, bool shapes);
  Attribute Known(Operation user, Value v, bool shapes) const;
  bool IsHeldBack(Value v) const;

  Evaluator& evaluator_;
  const FoldOptions options_;
  // Results that are known but too large, by value number; contents once somebody wants them.
  std::unordered_map<uint32_t, Attribute> held_back_;
  // All of them that are computed together, in bytes: each is one that no constant will hold, and
  // whether it leads to a small one is not known before.
  int64_t budget_ = int64_t{64} << 20;
};

}  // namespace weft::ir
