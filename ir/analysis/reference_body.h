// The reference body of an op: other ops that compute the same, as its definition builds them
// (Decompose) or as they stand in its region (kBodyInRegion).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ir/rewriter.h"

namespace weft::ir {

bool HasReferenceBody(Operation op);

// Builds the body at the builder's insertion point for `operands`, whose types may say more than
// those of op's own; they may be values of another program. Types are inferred anew. Empty when
// there is no body for these operands.
std::vector<Value> BuildReferenceBody(Builder& builder, Operation op,
                                      std::span<const Value> operands);

// The body that gives the first `num_results` results only.
std::vector<Value> BuildReferenceBody(Builder& builder, Operation op,
                                      std::span<const Value> operands, size_t num_results);

// Puts the body in place of op, with op's location. False, with nothing changed, when there is none
// for its operands.
bool ReplaceByReferenceBody(Rewriter& rewriter, Operation op);

}  // namespace weft::ir
