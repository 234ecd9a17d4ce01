// Ops that change shapes and move data.
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

void LoadTensorOps(IrContext& context);

}  // namespace weft::ir::pd
