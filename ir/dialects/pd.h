// The pd dialect: the Paddle operators of the seed listings, with Paddle's names, attributes and
// conventions (shapes and scales are operands defined by pd.full and pd.full_int_array; concat
// takes a vector; reshape has a second result that remembers the old shape), and the gradients of
// these operators.
//
// Listings keep the types they state even where inference would say otherwise.
#pragma once

#include "ir/dialects/pd/creation.h"
#include "ir/dialects/pd/loss.h"
#include "ir/dialects/pd/loss_grad.h"
#include "ir/dialects/pd/math.h"
#include "ir/dialects/pd/math_grad.h"
#include "ir/dialects/pd/nn.h"
#include "ir/dialects/pd/nn_grad.h"
#include "ir/dialects/pd/tensor.h"
#include "ir/dialects/pd/tensor_grad.h"

namespace weft::ir {

void LoadPdDialect(IrContext& context);

}  // namespace weft::ir
