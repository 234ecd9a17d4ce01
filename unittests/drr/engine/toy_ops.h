// A small dialect for tests of the rule language. Every op keeps the type of its first operand.
#pragma once

#include <string_view>
#include <tuple>

#include "ir/dialects/attr_defaults.h"
#include "ir/infer.h"
#include "ir/op_def.h"

namespace weft::drr::toy {

inline bool SameAsFirst(ir::InferContext& c) { return c.SetResult(0, c.operand_type(0)); }

struct Relu {
  static constexpr ir::OpInfo kInfo = {
      .name = "toy.relu", .operands = {"x"}, .traits = ir::kPure | ir::kElementwise};
  template <template <class> class Slot>
  using Attrs = ir::NoAttrs<Slot>;
  static bool Infer(ir::InferContext& c) { return SameAsFirst(c); }
};
struct Tanh {
  static constexpr ir::OpInfo kInfo = {
      .name = "toy.tanh", .operands = {"x"}, .traits = ir::kPure | ir::kElementwise};
  template <template <class> class Slot>
  using Attrs = ir::NoAttrs<Slot>;
  static bool Infer(ir::InferContext& c) { return SameAsFirst(c); }
};
struct Add {
  static constexpr ir::OpInfo kInfo = {.name = "toy.add",
                                       .operands = {"x", "y"},
                                       .traits = ir::kPure | ir::kCommutative | ir::kElementwise};
  template <template <class> class Slot>
  using Attrs = ir::NoAttrs<Slot>;
  static bool Infer(ir::InferContext& c) { return SameAsFirst(c); }
};
struct Mul {
  static constexpr ir::OpInfo kInfo = {.name = "toy.mul",
                                       .operands = {"x", "y"},
                                       .traits = ir::kPure | ir::kCommutative | ir::kElementwise};
  template <template <class> class Slot>
  using Attrs = ir::NoAttrs<Slot>;
  static bool Infer(ir::InferContext& c) { return SameAsFirst(c); }
};
struct Sub {
  static constexpr ir::OpInfo kInfo = {.name = "toy.sub", .operands = {"x", "y"}};
  template <template <class> class Slot>
  using Attrs = ir::NoAttrs<Slot>;
  static bool Infer(ir::InferContext& c) { return SameAsFirst(c); }
};
// Three attributes: one required, one with a default, one that may be absent.
struct Norm {
  static constexpr ir::OpInfo kInfo = {
      .name = "toy.norm", .operands = {"x", ir::Optional("scale"), ir::Optional("bias")}};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    Slot<float> epsilon{};
    Slot<std::optional<int64_t>> groups{};
    static constexpr auto Fields() {
      return std::tuple(ir::Field{"axis", &Attrs::axis},
                        ir::Field{"epsilon", &Attrs::epsilon, 0.5f},
                        ir::Field{"groups", &Attrs::groups});
    }
  };
  static bool Infer(ir::InferContext& c) { return SameAsFirst(c); }
};
// As Norm, without groups.
struct Scale {
  static constexpr ir::OpInfo kInfo = {.name = "toy.scale", .operands = {"x"}};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    Slot<float> epsilon{};
    static constexpr auto Fields() {
      return std::tuple(ir::Field{"axis", &Attrs::axis, int64_t{0}},
                        ir::Field{"epsilon", &Attrs::epsilon, 0.25f});
    }
  };
  static bool Infer(ir::InferContext& c) { return SameAsFirst(c); }
};
// Two results from three operands.
struct Pair {
  static constexpr ir::OpInfo kInfo = {
      .name = "toy.pair", .operands = {"x", "y", "z"}, .results = {"a", "b"}};
  template <template <class> class Slot>
  using Attrs = ir::NoAttrs<Slot>;
  static bool Infer(ir::InferContext& c) {
    c.SetResult(1, c.operand_type(0));
    return SameAsFirst(c);
  }
};
// Any number of operands.
struct Join {
  static constexpr ir::OpInfo kInfo = {.name = "toy.join", .operands = {ir::Variadic("xs")}};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    static constexpr auto Fields() {
      return std::tuple(ir::Field{"axis", &Attrs::axis, int64_t{0}});
    }
  };
  static bool Infer(ir::InferContext& c) { return SameAsFirst(c); }
};
// Gives its operand.
struct Same {
  static constexpr ir::OpInfo kInfo = {.name = "toy.same", .operands = {"x"}};
  template <template <class> class Slot>
  using Attrs = ir::NoAttrs<Slot>;
  static bool Infer(ir::InferContext& c) { return SameAsFirst(c); }
};
// The same elements in another type, whatever it is created with.
struct View {
  static constexpr ir::OpInfo kInfo = {.name = "toy.view", .operands = {"x"}};
  template <template <class> class Slot>
  using Attrs = ir::NoAttrs<Slot>;
};
// Writes somewhere: never erased, merged or moved.
struct Log {
  static constexpr ir::OpInfo kInfo = {
      .name = "toy.log", .operands = {"x"}, .traits = ir::kElementwise};
  template <template <class> class Slot>
  using Attrs = ir::NoAttrs<Slot>;
  static bool Infer(ir::InferContext& c) { return SameAsFirst(c); }
};
struct Number {
  static constexpr ir::OpInfo kInfo = {.name = "toy.number", .operands = {}, .traits = ir::kPure};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> value{};
    static constexpr auto Fields() { return std::tuple(ir::Field{"value", &Attrs::value}); }
  };
  static bool Infer(ir::InferContext& c) {
    const int64_t dims[] = {2, 3};
    return c.SetResult(0, ir::DataType::kF32, dims);
  }
};

inline void Load(ir::IrContext& context) {
  ir::AddOps<Relu, Tanh, Add, Mul, Sub, Norm, Scale, Pair, Join, Same, View, Log, Number>(context);
}

}  // namespace weft::drr::toy
