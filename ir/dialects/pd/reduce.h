// Ops that reduce an axis, and their gradients, under Paddle's names.
#pragma once

#include <tuple>

#include "ir/dialects/attr_defaults.h"
#include "ir/op_def.h"

namespace weft::ir::pd {

// An empty axis list means all axes.
struct Mean {
  static constexpr OpInfo kInfo = {
      .name = "pd.mean", .operands = {"x"}, .doc = "the mean over some axes"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<Ints> axis{};
    Slot<bool> keepdim{};
    static constexpr auto Fields() {
      return std::tuple(Field{"axis", &Attrs::axis, EmptyList()},
                        Field{"keepdim", &Attrs::keepdim, false});
    }
  };
  static bool Infer(InferContext& c);
};

// The k largest (or smallest) entries along axis and where they are; k is a tensor of one integer.
struct TopK {
  static constexpr OpInfo kInfo = {.name = "pd.topk",
                                   .operands = {"x", "k"},
                                   .results = {"out", "indices"},
                                   .doc = "the k largest entries along an axis"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    Slot<bool> largest{};
    Slot<bool> sorted{};
    static constexpr auto Fields() {
      return std::tuple(Field{"axis", &Attrs::axis, int64_t{-1}},
                        Field{"largest", &Attrs::largest, true},
                        Field{"sorted", &Attrs::sorted, true});
    }
  };
  static bool Infer(InferContext& c);
};

struct MeanGrad {
  static constexpr OpInfo kInfo = {.name = "pd.mean_grad",
                                   .operands = {"x", "out_grad"},
                                   .results = {"x_grad"},
                                   .doc = "out_grad shared out evenly over the elements of x"};
  template <template <class> class Slot>
  using Attrs = Mean::Attrs<Slot>;
  static bool Infer(InferContext& c);
};

void LoadReduceOps(IrContext& context);

}  // namespace weft::ir::pd
