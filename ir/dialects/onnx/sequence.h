// Operators on sequences of tensors and on optionals. An optional's element is a tensor or a sequence
// of tensors. Positions count from the end where they are negative. (SequenceMap: control.h.)
//
//   s = onnx.SequenceConstruct(a, b)        seq<tensor<?x3xf32>>
//   a = onnx.SequenceAt(s, position)        tensor<?x3xf32>
//
// The type of a sequence's element is what is true of all elements.
#pragma once

#include <optional>
#include <tuple>

#include "ir/dialects/onnx/infer/op_base.h"

namespace weft::ir::ops {

struct SequenceEmpty {
  static constexpr OpInfo kInfo = {.name = "onnx.SequenceEmpty",
                                   .operands = {},
                                   .onnx = "SequenceEmpty",
                                   .since = 11,
                                   .doc = "a sequence without elements"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<DataType>> dtype{};  // f32
    static constexpr auto Fields() { return std::tuple(Field{"dtype", &Attrs::dtype}); }
  };
  static bool Infer(InferContext& c);
};

struct SequenceConstruct : PlainOp {
  static constexpr OpInfo kInfo = {.name = "onnx.SequenceConstruct",
                                   .operands = {Variadic("inputs")},
                                   .onnx = "SequenceConstruct",
                                   .since = 11,
                                   .doc = "the sequence of the operands"};
  static bool Infer(InferContext& c);
};

struct SequenceInsert : PlainOp {
  static constexpr OpInfo kInfo = {
      .name = "onnx.SequenceInsert",
      .operands = {"input_sequence", "tensor", Optional("position")},
      .onnx = "SequenceInsert",
      .since = 11,
      .doc = "a sequence with one more tensor, at its end unless there is a position"};
  static bool Infer(InferContext& c);
};

struct SequenceErase : PlainOp {
  static constexpr OpInfo kInfo = {
      .name = "onnx.SequenceErase",
      .operands = {"input_sequence", Optional("position")},
      .onnx = "SequenceErase",
      .since = 11,
      .doc = "a sequence without one of its tensors, by default the last"};
  static bool Infer(InferContext& c);
};

struct SequenceAt : PlainOp {
  static constexpr OpInfo kInfo = {.name = "onnx.SequenceAt",
                                   .operands = {"input_sequence", "position"},
                                   .onnx = "SequenceAt",
                                   .since = 11,
                                   .doc = "one tensor of a sequence"};
  static bool Infer(InferContext& c);
};

struct SequenceLength : PlainOp {
  static constexpr OpInfo kInfo = {.name = "onnx.SequenceLength",
                                   .operands = {"input_sequence"},
                                   .onnx = "SequenceLength",
                                   .since = 11,
                                   .doc = "the number of tensors of a sequence"};
  static bool Infer(InferContext& c);
};

// Parts of the size `split`, the last one maybe smaller; of the sizes in `split` where that is a
// vector; of size 1 without it, and then without the axis unless keepdims.
struct SplitToSequence {
  static constexpr OpInfo kInfo = {.name = "onnx.SplitToSequence",
                                   .operands = {"x", Optional("split")},
                                   .traits = kPure | kAxisOfOperand,
                                   .onnx = "SplitToSequence",
                                   .since = 24,
                                   .doc = "parts of a tensor along one axis"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    Slot<int64_t> keepdims{};
    static constexpr auto Fields() {
      return std::tuple(Field{"axis", &Attrs::axis, int64_t{0}},
                        Field{"keepdims", &Attrs::keepdims, int64_t{1}});
    }
  };
  static bool Infer(InferContext& c);
};

// Along an axis that the tensors have, or along a new one.
struct ConcatFromSequence {
  static constexpr OpInfo kInfo = {.name = "onnx.ConcatFromSequence",
                                   .operands = {"input_sequence"},
                                   .onnx = "ConcatFromSequence",
                                   .since = 11,
                                   .doc = "the tensors of a sequence, joined"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    Slot<int64_t> new_axis{};
    static constexpr auto Fields() {
      return std::tuple(Field{"axis", &Attrs::axis},
                        Field{"new_axis", &Attrs::new_axis, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
};

// Called Optional by ONNX. Without an operand an optional of that type without an element.
struct OptionalOp {
  static constexpr OpInfo kInfo = {.name = "onnx.Optional",
                                   .operands = {Optional("input")},
                                   .onnx = "Optional",
                                   .since = 15,
                                   .doc = "an optional with the operand or nothing in it"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<Type>> type{};  // of the element
    static constexpr auto Fields() { return std::tuple(Field{"type", &Attrs::type}); }
  };
  static bool Infer(InferContext& c);
};

struct OptionalGetElement : PlainOp {
  static constexpr OpInfo kInfo = {.name = "onnx.OptionalGetElement",
                                   .operands = {"input"},
                                   .onnx = "OptionalGetElement",
                                   .since = 18,
                                   .doc = "what is in an optional; of other types the operand"};
  static bool Infer(InferContext& c);
};

struct OptionalHasElement : PlainOp {
  static constexpr OpInfo kInfo = {.name = "onnx.OptionalHasElement",
                                   .operands = {Optional("input")},
                                   .onnx = "OptionalHasElement",
                                   .since = 18,
                                   .doc = "whether the operand is given and no empty optional"};
  static bool Infer(InferContext& c);
};

void LoadSequenceOps(IrContext& context);

}  // namespace weft::ir::ops
