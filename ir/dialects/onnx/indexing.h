// Operators that find elements by their value or place them by index.
#pragma once

#include <array>

#include "ir/dialects/onnx/op_base.h"

namespace weft::ir::ops {

// k has one element. Equal elements are taken in the order of their indices.
struct TopK {
  static constexpr OpInfo kInfo = {.name = "onnx.TopK",
                                   .operands = {"x", "k"},
                                   .results = {"values", "indices"},
                                   .onnx = "TopK",
                                   .since = 11,
                                   .doc = "the k largest or smallest elements along an axis"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    Slot<int64_t> largest{};
    Slot<int64_t> sorted{};
    static constexpr auto Fields() {
      return std::tuple(Field{"axis", &Attrs::axis, int64_t{-1}},
                        Field{"largest", &Attrs::largest, int64_t{1}},
                        Field{"sorted", &Attrs::sorted, int64_t{1}});
    }
  };
  static bool Infer(InferContext& c);
};

// The types of a TopK whose k and indices are of type `index`.
bool InferTopK(InferContext& c, int64_t axis, DataType index);

enum class ScatterReduction : uint8_t { kNone, kAdd, kMul };
constexpr std::array<std::string_view, 3> EnumNames(ScatterReduction) {
  return {"none", "add", "mul"};
}

// The last dimension of indices counts the leading dimensions of data that an index names; updates
// is [indices without its last dimension, what data has left].
struct ScatterND {
  static constexpr OpInfo kInfo = {.name = "onnx.ScatterND",
                                   .operands = {"data", "indices", "updates"},
                                   .onnx = "ScatterND",
                                   .since = 16,
                                   .doc = "data with updates written, or applied, at some indices",
                                   .inplace = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<ScatterReduction> reduction{};
    static constexpr auto Fields() {
      return std::tuple(Field{"reduction", &Attrs::reduction, ScatterReduction::kNone});
    }
  };
  static bool Infer(InferContext& c);
};

void LoadIndexingOps(IrContext& context);

}  // namespace weft::ir::ops
