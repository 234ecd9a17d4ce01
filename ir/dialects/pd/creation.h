// Ops that bring values into a program and take them out.
#pragma once

#include <optional>
#include <tuple>

#include "ir/op_def.h"

namespace weft::ir::pd {

struct Full {
  static constexpr OpInfo kInfo = {.name = "pd.full",
                                   .operands = {},
                                   .traits = kPure | kConstantLike,
                                   .doc = "a tensor of a given shape, all elements alike"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<DataType> dtype{};
    Slot<std::optional<Attribute>> place{};  // verbatim, e.g. Place(cpu)
    Slot<Ints> shape{};
    Slot<float> value{};
    static constexpr auto Fields() {
      return std::tuple(Field{"dtype", &Attrs::dtype, DataType::kF32},
                        Field{"place", &Attrs::place}, Field{"shape", &Attrs::shape},
                        Field{"value", &Attrs::value});
    }
  };
  static bool Infer(InferContext& c);
};

struct FullIntArray {
  static constexpr OpInfo kInfo = {.name = "pd.full_int_array",
                                   .operands = {},
                                   .traits = kPure | kConstantLike,
                                   .doc = "a vector of integers"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<DataType> dtype{};
    Slot<std::optional<Attribute>> place{};
    Slot<Ints> value{};
    static constexpr auto Fields() {
      return std::tuple(Field{"dtype", &Attrs::dtype, DataType::kI64},
                        Field{"place", &Attrs::place}, Field{"value", &Attrs::value});
    }
  };
  static bool Infer(InferContext& c);
};

// An input of the program.
struct Feed {
  static constexpr OpInfo kInfo = {
      .name = "pd.feed", .operands = {}, .traits = kReadOnly, .doc = "a program input"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<int64_t>> col{};
    Slot<std::string> name{};
    static constexpr auto Fields() {
      return std::tuple(Field{"col", &Attrs::col}, Field{"name", &Attrs::name});
    }
  };
};

// An output of the program; its result, if any, is x.
struct Fetch {
  static constexpr OpInfo kInfo = {.name = "pd.fetch",
                                   .operands = {"x"},
                                   .results = {Optional("out")},
                                   .traits = kReadOnly,
                                   .doc = "a program output"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<int64_t>> col{};
    Slot<std::string> name{};
    static constexpr auto Fields() {
      return std::tuple(Field{"col", &Attrs::col}, Field{"name", &Attrs::name});
    }
  };
  static bool Infer(InferContext& c);
};

// The integers that an operand holds (a shape, an axis): defined by pd.full_int_array, pd.full of
// one element, or a constant.
std::optional<Ints> IntsOf(Value value);

void LoadCreationOps(IrContext& context);

}  // namespace weft::ir::pd
