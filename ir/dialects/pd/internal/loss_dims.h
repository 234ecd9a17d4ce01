// The sizes of losses, for the ops and for their gradients.
#pragma once

#include "ir/dialects/onnx/infer_util.h"
#include "ir/dialects/pd/loss.h"

namespace weft::ir::pd {

// Fails when operand i has a known element type that is no integer.
bool CheckClassNumbers(InferContext& c, size_t i);

// *dims: of the loss of operand `probabilities` (or logits) against operand `label`; fails where
// they do not fit.
bool LossDims(InferContext& c, size_t probabilities, size_t label,
              const CrossEntropyWithSoftmax::Attrs<Plain>& attrs, Dims* dims);

}  // namespace weft::ir::pd
