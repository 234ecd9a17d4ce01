// A dialect of its own, in one header: gain.scale multiplies a tensor by a constant factor.
#pragma once

#include "ir/infer.h"
#include "ir/op_def.h"

namespace gain {

struct Scale {
  static constexpr weft::ir::OpInfo kInfo = {
      .name = "gain.scale", .operands = {"x"}, .traits = weft::ir::kPure, .doc = "x times factor"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> factor{};
    static constexpr auto Fields() {
      return std::tuple(weft::ir::Field{"factor", &Attrs::factor, 1.0f});
    }
  };
  static bool Infer(weft::ir::InferContext& c) { return c.SetResult(0, c.operand_type(0)); }
};

}  // namespace gain
