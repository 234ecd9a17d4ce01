// The pd dialect: the Paddle operators of the seed listings, with Paddle's names, attributes and
// conventions (shapes and scales are operands defined by pd.full and pd.full_int_array; concat
// takes a vector; reshape has a second result that remembers the old shape), and the gradients of
// these operators.
//
// Listings keep the types they state even where inference would say otherwise.
#pragma once

#include "ir/dialects/pd/attention.h"
#include "ir/dialects/pd/conv.h"
#include "ir/dialects/pd/creation.h"
#include "ir/dialects/pd/elementwise.h"
#include "ir/dialects/pd/loss.h"
#include "ir/dialects/pd/matmul.h"
#include "ir/dialects/pd/movement.h"
#include "ir/dialects/pd/normalization.h"
#include "ir/dialects/pd/pool.h"
#include "ir/dialects/pd/reduce.h"
#include "ir/dialects/pd/shape.h"

namespace weft::ir {

void LoadPdDialect(IrContext& context);

}  // namespace weft::ir
