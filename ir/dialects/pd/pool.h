// Pooling and its gradient, under Paddle's names.
#pragma once

#include <array>
#include <string_view>
#include <tuple>

#include "ir/dialects/attr_defaults.h"
#include "ir/dialects/pd/window.h"
#include "ir/op_def.h"

namespace weft::ir::pd {

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

// A maximum sends its gradient to the first element of the window that equals it.
struct Pool2dGrad {
  static constexpr OpInfo kInfo = {.name = "pd.pool2d_grad",
                                   .operands = {"x", "out", "out_grad", "kernel_size"},
                                   .results = {"x_grad"},
                                   .doc = "the gradient of a pooling"};
  template <template <class> class Slot>
  using Attrs = Pool2d::Attrs<Slot>;
  static bool Infer(InferContext& c);
};

void LoadPoolOps(IrContext& context);

}  // namespace weft::ir::pd
