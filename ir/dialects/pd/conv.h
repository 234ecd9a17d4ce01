// Convolution and its gradients, under Paddle's names.
#pragma once

#include <tuple>

#include "ir/dialects/attr_defaults.h"
#include "ir/dialects/pd/window.h"
#include "ir/op_def.h"

namespace weft::ir::pd {

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

struct Conv2dGrad {
  static constexpr OpInfo kInfo = {.name = "pd.conv2d_grad",
                                   .operands = {"input", "filter", "out_grad"},
                                   .results = {"input_grad", "filter_grad"},
                                   .doc = "the gradients of a convolution"};
  template <template <class> class Slot>
  using Attrs = Conv2d::Attrs<Slot>;
  static bool Infer(InferContext& c);
};

void LoadConvOps(IrContext& context);

}  // namespace weft::ir::pd
