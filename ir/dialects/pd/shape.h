// Ops that change shapes and their gradients, under Paddle's names.
#pragma once

#include <tuple>

#include "ir/op_def.h"

namespace weft::ir::pd {

// In shape one -1 is computed and 0 copies x's dimension. xshape holds no data: its type is x's
// with a leading dimension 0.
struct Reshape {
  static constexpr OpInfo kInfo = {.name = "pd.reshape",
                                   .operands = {"x", "shape"},
                                   .results = {"out", "xshape"},
                                   .traits = kPure | kView,
                                   .doc = "the same elements in another shape"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

// Joins dimensions start_axis..stop_axis.
struct Flatten {
  static constexpr OpInfo kInfo = {.name = "pd.flatten",
                                   .operands = {"x"},
                                   .results = {"out", "xshape"},
                                   .traits = kPure | kView,
                                   .doc = "joins a range of dimensions into one"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> start_axis{};
    Slot<int64_t> stop_axis{};
    static constexpr auto Fields() {
      return std::tuple(Field{"start_axis", &Attrs::start_axis, int64_t{1}},
                        Field{"stop_axis", &Attrs::stop_axis, int64_t{1}});
    }
  };
  static bool Infer(InferContext& c);
};

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

void LoadShapeOps(IrContext& context);

}  // namespace weft::ir::pd
