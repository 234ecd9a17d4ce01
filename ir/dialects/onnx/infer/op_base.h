// Shared OpInfo and inference of elementwise ops of onnx. To inherit from, or to call in kInfo.
#pragma once

#include <optional>
#include <string_view>
#include <tuple>

#include "ir/op_def.h"

namespace weft::ir::ops {

constexpr std::string_view kOnnxPrefix = "onnx.";

// `name` is "onnx." and the ONNX op_type.
constexpr OpInfo UnaryInfo(std::string_view name, int since, std::string_view doc,
                           uint32_t more_traits = kNone) {
  return {.name = name,
          .operands = {"x"},
          .traits = kPure | kElementwise | more_traits,
          .onnx = name.substr(kOnnxPrefix.size()),
          .since = since,
          .doc = doc};
}
constexpr OpInfo BinaryInfo(std::string_view name, int since, std::string_view doc,
                            uint32_t more_traits = kNone) {
  return {.name = name,
          .operands = {"x", "y"},
          .traits = kPure | kElementwise | more_traits,
          .onnx = name.substr(kOnnxPrefix.size()),
          .since = since,
          .doc = doc};
}
constexpr OpInfo VariadicInfo(std::string_view name, int since, std::string_view doc,
                              uint32_t more_traits = kNone) {
  return {.name = name,
          .operands = {Variadic("inputs")},
          .traits = kPure | kElementwise | kCommutative | more_traits,
          .onnx = name.substr(kOnnxPrefix.size()),
          .since = since,
          .doc = doc};
}

// Bases of ops without attributes. A unary op's result has its operand's type; operands of the
// others have one element type and are broadcast.
struct PlainOp {
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
};
struct UnaryOp : PlainOp {  // of any element type
  static bool Infer(InferContext& c);
};
struct UnaryNumberOp : PlainOp {
  static bool Infer(InferContext& c);
};
struct UnaryFloatOp : PlainOp {
  static bool Infer(InferContext& c);
};
struct BinaryNumberOp : PlainOp {
  static bool Infer(InferContext& c);
};
struct LogicalOp : PlainOp {  // bool to bool
  static bool Infer(InferContext& c);
};
struct EqualityOp : PlainOp {  // any element type to bool
  static bool Infer(InferContext& c);
};
struct ComparisonOp : PlainOp {  // numbers to bool
  static bool Infer(InferContext& c);
};

}  // namespace weft::ir::ops
