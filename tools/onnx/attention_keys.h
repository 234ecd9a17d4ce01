// How many keys an Attention has, and whether its mask is for all of them.
#pragma once

#include "ir/dim/dim_expr.h"
#include "ir/value.h"

namespace weft::onnx {

// Keys are [B, heads, S, depth] or [B, S, heads * depth].
struct AttentionKeys {
  ir::Value key;   // new ones
  ir::Value past;  // may be null

  ir::DimExpr Count() const;  // the sum of S; unknown where one is
  // Whether the mask has so many columns for sure: its type says so, or it is expanded to as many as a run finds.
  bool AreCoveredBy(ir::Value mask) const;

  static int64_t Length(ir::Value keys);  // S of one of them
  static int64_t Columns(ir::Value mask);
};

}  // namespace weft::onnx
