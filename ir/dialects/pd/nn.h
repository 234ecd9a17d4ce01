// Convolution, pooling, normalisation, softmax and Paddle's fused attention.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <tuple>

#include "ir/dialects/attr_defaults.h"
#include "ir/op_def.h"

namespace weft::ir::pd {

enum class DataFormat : uint8_t { kNchw, kNhwc };
constexpr std::array<std::string_view, 2> EnumNames(DataFormat) { return {"NCHW", "NHWC"}; }

enum class PaddingAlgorithm : uint8_t { kExplicit, kSame, kValid };
constexpr std::array<std::string_view, 3> EnumNames(PaddingAlgorithm) {
  return {"EXPLICIT", "SAME", "VALID"};
}

// paddings: height, width; or top, bottom, left, right.
struct Conv2d {
  static constexpr OpInfo kInfo = {
      .name = "pd.conv2d", .operands = {"input", "filter"}, .doc = "convolution"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<DataFormat> data_format{};
    Slot<Ints> dilations{};
    Slot<int64_t> groups{};
    Slot<PaddingAlgorithm> padding_algorithm{};
    Slot<Ints> paddings{};
    Slot<Ints> strides{};
    static constexpr auto Fields() {
      return std::tuple(
          Field{"data_format", &Attrs::data_format, DataFormat::kNchw},
          Field{"dilations", &Attrs::dilations, IntList{1, 1}},
          Field{"groups", &Attrs::groups, int64_t{1}},
          Field{"padding_algorithm", &Attrs::padding_algorithm, PaddingAlgorithm::kExplicit},
          Field{"paddings", &Attrs::paddings, IntList{0, 0}},
          Field{"strides", &Attrs::strides, IntList{1, 1}});
    }
  };
  static bool Infer(InferContext& c);
};

struct BatchNorm {
  static constexpr OpInfo kInfo = {.name = "pd.batch_norm",
                                   .operands = {"x", "mean", "variance", "scale", "bias"},
                                   .results = {"out", "mean_out", "variance_out", "saved_mean",
                                               "saved_variance", "reserve_space"},
                                   .doc = "normalises each channel"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<DataFormat> data_layout{};
    Slot<float> epsilon{};
    Slot<bool> is_test{};
    Slot<float> momentum{};
    Slot<bool> trainable_statistics{};
    Slot<bool> use_global_stats{};
    static constexpr auto Fields() {
      return std::tuple(Field{"data_layout", &Attrs::data_layout, DataFormat::kNchw},
                        Field{"epsilon", &Attrs::epsilon, 1e-5f},
                        Field{"is_test", &Attrs::is_test, false},
                        Field{"momentum", &Attrs::momentum, 0.9f},
                        Field{"trainable_statistics", &Attrs::trainable_statistics, false},
                        Field{"use_global_stats", &Attrs::use_global_stats, false});
    }
  };
  static bool Infer(InferContext& c);
};

enum class PoolingType : uint8_t { kMax, kAvg };
constexpr std::array<std::string_view, 2> EnumNames(PoolingType) { return {"max", "avg"}; }

// kernel_size is a tensor of two integers. adaptive: kernel_size is the size of the result.
struct Pool2d {
  static constexpr OpInfo kInfo = {
      .name = "pd.pool2d", .operands = {"x", "kernel_size"}, .doc = "max or average pooling"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<bool> adaptive{};
    Slot<bool> ceil_mode{};
    Slot<DataFormat> data_format{};
    Slot<bool> exclusive{};
    Slot<bool> global_pooling{};
    Slot<PaddingAlgorithm> padding_algorithm{};
    Slot<Ints> paddings{};
    Slot<PoolingType> pooling_type{};
    Slot<Ints> strides{};
    static constexpr auto Fields() {
      return std::tuple(
          Field{"adaptive", &Attrs::adaptive, false}, Field{"ceil_mode", &Attrs::ceil_mode, false},
          Field{"data_format", &Attrs::data_format, DataFormat::kNchw},
          Field{"exclusive", &Attrs::exclusive, true},
          Field{"global_pooling", &Attrs::global_pooling, false},
          Field{"padding_algorithm", &Attrs::padding_algorithm, PaddingAlgorithm::kExplicit},
          Field{"paddings", &Attrs::paddings, IntList{0, 0}},
          Field{"pooling_type", &Attrs::pooling_type, PoolingType::kMax},
          Field{"strides", &Attrs::strides, IntList{1, 1}});
    }
  };
  static bool Infer(InferContext& c);
};

struct Softmax {
  static constexpr OpInfo kInfo = {.name = "pd.softmax",
                                   .operands = {"x"},
                                   .doc = "exp(x) / sum(exp(x)) along one axis",
                                   .inplace = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    static constexpr auto Fields() { return std::tuple(Field{"axis", &Attrs::axis, int64_t{-1}}); }
  };
  static bool Infer(InferContext& c);
};

// softmax(alpha * Q . K^T + bias_qk) . V with Q, K, V = input . w + bias split into heads: input
// [B, S, D], w [D, 3, N], bias [3, N], bias_qk broadcastable to [B, head_number, S, S]; the result
// is [B, S, N].
struct MultiheadMatmul {
  static constexpr OpInfo kInfo = {.name = "pd.multihead_matmul",
                                   .operands = {"input", "w", "bias", Optional("bias_qk")},
                                   .doc = "multi-head self-attention with its projections"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> alpha{};
    Slot<int64_t> head_number{};
    Slot<bool> transpose_k{};
    Slot<bool> transpose_q{};
    Slot<bool> transpose_v{};
    static constexpr auto Fields() {
      return std::tuple(Field{"alpha", &Attrs::alpha, 1.0f},
                        Field{"head_number", &Attrs::head_number, int64_t{1}},
                        Field{"transpose_k", &Attrs::transpose_k, true},
                        Field{"transpose_q", &Attrs::transpose_q, false},
                        Field{"transpose_v", &Attrs::transpose_v, false});
    }
  };
  static bool Infer(InferContext& c);
};

void LoadNnOps(IrContext& context);

}  // namespace weft::ir::pd
