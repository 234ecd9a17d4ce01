// Ops that move data and their gradients, under Paddle's names. (That of pd.transpose is another
// pd.transpose.)
#pragma once

#include <tuple>

#include "ir/op_def.h"

namespace weft::ir::pd {

// x broadcast to shape, in which -1 keeps a dimension of x.
struct Expand {
  static constexpr OpInfo kInfo = {
      .name = "pd.expand", .operands = {"x", "shape"}, .doc = "x broadcast to a shape"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

// Dimension i of the result is dimension perm[i] of x.
struct Transpose {
  static constexpr OpInfo kInfo = {
      .name = "pd.transpose", .operands = {"x"}, .doc = "permutes dimensions"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<Ints> perm{};
    static constexpr auto Fields() { return std::tuple(Field{"perm", &Attrs::perm}); }
  };
  static bool Infer(InferContext& c);
};

// x is a vector of tensors (builtin.combine), axis a tensor of one integer.
struct Concat {
  static constexpr OpInfo kInfo = {
      .name = "pd.concat", .operands = {"x", "axis"}, .doc = "joins tensors along an axis"};
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

void LoadMovementOps(IrContext& context);

}  // namespace weft::ir::pd
