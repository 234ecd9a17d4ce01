// Attention over a cache of keys and values and those of the step, with the rows of all heads in one
// matrix, as LiteRT has it where the heads share their keys. Every op of it works row by row, so that
// the rows of one head alone give that head's result. Seed: litert_graph_to_graph.md, "Gemma3".
//
//   w = softmax(concat(rows . cached_keys^T, rows . keys^T) + mask)
//   sum = w[.., :c] . cached_values + w[.., c:] . values
//
// The mask is added to [batch, heads, length, entries] between two reshapes, or to the rows as they
// are. Offered to the passes mha-to-sha-prefill and mha-to-sha-decode, which know what the rows are.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "ir/rewriter.h"
#include "passes/targets/litert/attention_match.h"

namespace weft::passes {

struct CachedAttention {
  int64_t heads = 0, length = 0;  // heads * length rows
  ir::Value rows;                 // [batch, 1, heads * length, size]
  std::array<ir::Operation, 2> scores;
  ir::Operation concat, add, softmax;
  uint32_t mask_operand = 0;  // of add
  int64_t mask_axis = -1;     // along which the mask has a part for each head; -1: they share it
  std::array<ir::Operation, 2> slices, products;
  ir::Operation sum;  // [batch, 1, heads * length, size]
};

// Where an attention may end: all sums of the program, in order. Some may go when another is changed.
std::vector<ir::Operation> Sums(ir::Program& program);

// The attention that ends in `sum`, when its shapes are known, rows are rows of `heads` heads and
// nobody else reads what lies between the rows and the sum.
std::optional<CachedAttention> FindCachedAttention(ir::Operation sum, int64_t heads);

// Head by head: the rows, split, times the factor, through the attention. `rows` has the type of
// a.rows; the result is [batch, 1, length, heads * size].
ir::Value SplitIntoHeads(ir::Rewriter& rewriter, const CachedAttention& a, const Scaled& rows);

// x times a factor that is the same for all heads and positions, for x of rank 4.
std::optional<Scaled> ScaledAlike(ir::Operation mul);

}  // namespace weft::passes
