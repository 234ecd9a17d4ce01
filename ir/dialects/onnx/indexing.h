// Operators that find elements by index or value, or place them by index.
#pragma once

#include <array>

#include "ir/dialects/onnx/infer/op_base.h"
#include "ir/dialects/onnx/movement.h"

namespace weft::ir::ops {

// --- by index ---------------------------------------------------------------------

// out[i][j][k] = data[i][indices[i][j][k]][k], for axis 1 of 3.
struct GatherElements {
  static constexpr OpInfo kInfo = {
      .name = "onnx.GatherElements",
      .operands = {"data", "indices"},
      .traits = kPure | kTypeGeneric | kAxisOfOperand,
      .onnx = "GatherElements",
      .since = 13,
      .doc = "the element of data that each index names, along an axis",
      .data = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    static constexpr auto Fields() { return std::tuple(Field{"axis", &Attrs::axis, int64_t{0}}); }
  };
  static bool Infer(InferContext& c);
};

// The first batch_dims dimensions of data and indices are common. The last dimension of indices counts
// the dimensions of data behind them that an index names.
struct GatherND {
  static constexpr OpInfo kInfo = {.name = "onnx.GatherND",
                                   .operands = {"data", "indices"},
                                   .traits = kPure | kTypeGeneric,
                                   .onnx = "GatherND",
                                   .since = 13,
                                   .doc = "the slices of data that some indices name",
                                   .data = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> batch_dims{};
    static constexpr auto Fields() {
      return std::tuple(Field{"batch_dims", &Attrs::batch_dims, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
};

// out[i][indices[i][j][k]][k] = updates[i][j][k], for axis 1 of 3; reduced with what is there.
struct ScatterElements {
  static constexpr OpInfo kInfo = {.name = "onnx.ScatterElements",
                                   .operands = {"data", "indices", "updates"},
                                   .traits = kPure | kTypeGeneric | kAxisOfOperand,
                                   .onnx = "ScatterElements",
                                   .since = 18,
                                   .doc = "data with updates written, or applied, along an axis",
                                   .data = OverOperands(0, 2)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    Slot<ScatterReduction> reduction{};
    static constexpr auto Fields() {
      return std::tuple(Field{"axis", &Attrs::axis, int64_t{0}},
                        Field{"reduction", &Attrs::reduction, ScatterReduction::kNone});
    }
  };
  static bool Infer(InferContext& c);
};

enum class CacheMode : uint8_t { kLinear, kCircular };
constexpr std::array<std::string_view, 2> EnumNames(CacheMode) { return {"linear", "circular"}; }

// Batch b of update goes to write_indices[b] (0 when not given) and what follows along the axis; a
// circular cache begins anew behind its end.
struct TensorScatter {
  static constexpr OpInfo kInfo = {.name = "onnx.TensorScatter",
                                   .operands = {"past_cache", "update", Optional("write_indices")},
                                   .results = {"present_cache"},
                                   .traits = kPure | kTypeGeneric | kAxisOfOperand,
                                   .onnx = "TensorScatter",
                                   .since = 24,
                                   .doc = "a cache with an update written into each batch",
                                   .inplace = OverOperands(0),
                                   .data = OverOperands(0, 1)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    Slot<CacheMode> mode{};
    static constexpr auto Fields() {
      return std::tuple(Field{"axis", &Attrs::axis, int64_t{-2}},
                        Field{"mode", &Attrs::mode, CacheMode::kLinear});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// values is [off, on]; indices outside -depth..depth-1 are off everywhere. axis counts dimensions of
// the result.
struct OneHot {
  static constexpr OpInfo kInfo = {.name = "onnx.OneHot",
                                   .operands = {"indices", "depth", "values"},
                                   .onnx = "OneHot",
                                   .since = 11,
                                   .doc = "a new dimension that is on where an index says",
                                   .data = OverOperands(0, 2)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    static constexpr auto Fields() { return std::tuple(Field{"axis", &Attrs::axis, int64_t{-1}}); }
  };
  static bool Infer(InferContext& c);
};

// --- by place ---------------------------------------------------------------------

// k (default 0) is a diagonal above the main one, or below it when negative.
struct Trilu {
  static constexpr OpInfo kInfo = {.name = "onnx.Trilu",
                                   .operands = {"x", Optional("k")},
                                   .traits = kPure | kTypeGeneric,
                                   .onnx = "Trilu",
                                   .since = 14,
                                   .doc = "the upper or lower triangle of matrices, else zero",
                                   .data = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> upper{};
    static constexpr auto Fields() { return std::tuple(Field{"upper", &Attrs::upper, int64_t{1}}); }
  };
  static bool Infer(InferContext& c);
};

struct ReverseSequence {
  static constexpr OpInfo kInfo = {.name = "onnx.ReverseSequence",
                                   .operands = {"x", "sequence_lens"},
                                   .traits = kPure | kTypeGeneric,
                                   .onnx = "ReverseSequence",
                                   .since = 10,
                                   .doc = "the first elements of each batch in reverse order",
                                   .data = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> batch_axis{};
    Slot<int64_t> time_axis{};
    static constexpr auto Fields() {
      return std::tuple(Field{"batch_axis", &Attrs::batch_axis, int64_t{1}},
                        Field{"time_axis", &Attrs::time_axis, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
};

// Of the channels, DCR (depth, column, row) has the block outermost and CRD innermost.
enum class DepthOrder : uint8_t { kDcr, kCrd };
constexpr std::array<std::string_view, 2> EnumNames(DepthOrder) { return {"DCR", "CRD"}; }

// [N, C * b * b, H, W] => [N, C, H * b, W * b]
struct DepthToSpace {
  static constexpr OpInfo kInfo = {.name = "onnx.DepthToSpace",
                                   .operands = {"x"},
                                   .traits = kPure | kTypeGeneric,
                                   .onnx = "DepthToSpace",
                                   .since = 13,
                                   .doc = "channels moved into blocks of an image"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> blocksize{};
    Slot<DepthOrder> mode{};
    static constexpr auto Fields() {
      return std::tuple(Field{"blocksize", &Attrs::blocksize},
                        Field{"mode", &Attrs::mode, DepthOrder::kDcr});
    }
  };
  static bool Infer(InferContext& c);
};

// [N, C, H * b, W * b] => [N, C * b * b, H, W]
struct SpaceToDepth {
  static constexpr OpInfo kInfo = {.name = "onnx.SpaceToDepth",
                                   .operands = {"x"},
                                   .traits = kPure | kTypeGeneric,
                                   .onnx = "SpaceToDepth",
                                   .since = 13,
                                   .doc = "blocks of an image moved into channels"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> blocksize{};
    static constexpr auto Fields() { return std::tuple(Field{"blocksize", &Attrs::blocksize}); }
  };
  static bool Infer(InferContext& c);
};

struct CenterCropPad {
  static constexpr OpInfo kInfo = {
      .name = "onnx.CenterCropPad",
      .operands = {"data", "shape"},
      .traits = kPure | kTypeGeneric,
      .onnx = "CenterCropPad",
      .since = 18,
      .doc = "the middle of data, or data in the middle of zeros, along some axes",
      .data = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<Ints>> axes{};
    static constexpr auto Fields() { return std::tuple(Field{"axes", &Attrs::axes}); }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// --- by value: the values decide how many there are -----------------------------------

// Without axis, of the flattened x. condition may be shorter than the axis.
struct Compress {
  static constexpr OpInfo kInfo = {.name = "onnx.Compress",
                                   .operands = {"x", "condition"},
                                   .traits = kPure | kTypeGeneric | kAxisOfOperand,
                                   .onnx = "Compress",
                                   .since = 11,
                                   .doc = "the slices of x for which a condition holds",
                                   .data = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<int64_t>> axis{};
    static constexpr auto Fields() { return std::tuple(Field{"axis", &Attrs::axis}); }
  };
  static bool Infer(InferContext& c);
};

// [rank of x, number of them]
struct NonZero {
  static constexpr OpInfo kInfo = {
      .name = "onnx.NonZero",
      .operands = {"x"},
      .onnx = "NonZero",
      .since = 13,
      .doc = "the indices of the elements that are not zero, in row-major order"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

// Without axis, of the flattened x. In ascending order, or in that of their first occurrence. NaNs are
// one value, the last.
struct Unique {
  static constexpr OpInfo kInfo = {
      .name = "onnx.Unique",
      .operands = {"x"},
      .results = {"out", Optional("indices"), Optional("inverse_indices"), Optional("counts")},
      .traits = kPure | kAxisOfOperand,
      .onnx = "Unique",
      .since = 11,
      .doc = "the distinct elements or slices of a tensor"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<int64_t>> axis{};
    Slot<int64_t> sorted{};
    static constexpr auto Fields() {
      return std::tuple(Field{"axis", &Attrs::axis}, Field{"sorted", &Attrs::sorted, int64_t{1}});
    }
  };
  static bool Infer(InferContext& c);
};

// boxes is [batches, boxes, 4], scores [batches, classes, boxes]; a row of the result is a batch, a
// class and a box.
struct NonMaxSuppression {
  static constexpr OpInfo kInfo = {
      .name = "onnx.NonMaxSuppression",
      .operands = {"boxes", "scores", Optional("max_output_boxes_per_class"),
                   Optional("iou_threshold"), Optional("score_threshold")},
      .onnx = "NonMaxSuppression",
      .since = 11,
      .doc = "the boxes that overlap no better one too much",
      .data = OverOperands(0, 1)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> center_point_box{};
    static constexpr auto Fields() {
      return std::tuple(Field{"center_point_box", &Attrs::center_point_box, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
};

void LoadIndexingOps(IrContext& context);

}  // namespace weft::ir::ops
