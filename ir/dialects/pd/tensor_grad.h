// Gradients of ops that change shapes and move data, under Paddle's names. (That of pd.transpose is
// another pd.transpose.)
#pragma once

#include "ir/dialects/pd/tensor.h"
#include "ir/op_def.h"

namespace weft::ir::pd {

struct ReshapeGrad {
  static constexpr OpInfo kInfo = {.name = "pd.reshape_grad",
                                   .operands = {"xshape", "out_grad"},
                                   .results = {"x_grad"},
                                   .doc = "out_grad in the shape that xshape remembers"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};
struct FlattenGrad {
  static constexpr OpInfo kInfo = {.name = "pd.flatten_grad",
                                   .operands = {"xshape", "out_grad"},
                                   .results = {"x_grad"},
                                   .doc = "out_grad in the shape that xshape remembers"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};
struct ExpandGrad {
  static constexpr OpInfo kInfo = {.name = "pd.expand_grad",
                                   .operands = {"x", "shape", "out_grad"},
                                   .results = {"x_grad"},
                                   .doc = "out_grad summed over what x was repeated for"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};
// x and x_grad are vectors.
struct ConcatGrad {
  static constexpr OpInfo kInfo = {.name = "pd.concat_grad",
                                   .operands = {"x", "axis", "out_grad"},
                                   .results = {"x_grad"},
                                   .doc = "the parts of out_grad that the elements of x became"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

void LoadTensorGradOps(IrContext& context);

}  // namespace weft::ir::pd
