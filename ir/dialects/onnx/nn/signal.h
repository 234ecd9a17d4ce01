// Fourier transforms and what goes with them. Complex numbers are the two entries of a last dimension:
// real part, imaginary part; it has one entry where numbers are real.
#pragma once

#include "ir/dialects/onnx/infer/op_base.h"

namespace weft::ir::ops {

// Along `axis` (a scalar, -2 unless given), for dft_length elements: x is cut, or zeros follow it.
// onesided: forward returns the dft_length / 2 + 1 numbers that determine the others, as x is real;
// inverse takes these and returns real numbers.
struct DFT {
  static constexpr OpInfo kInfo = {.name = "onnx.DFT",
                                   .operands = {"x", Optional("dft_length"), Optional("axis")},
                                   .onnx = "DFT",
                                   .since = 20,
                                   .doc = "discrete Fourier transform",
                                   .data = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> inverse{};
    Slot<int64_t> onesided{};
    static constexpr auto Fields() {
      return std::tuple(Field{"inverse", &Attrs::inverse, int64_t{0}},
                        Field{"onesided", &Attrs::onesided, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
};

// signal is [B, L, 1 or 2]; the result is [B, frames, numbers, 2]: the transforms of pieces of
// frame_length elements (scalar; that of the window, or all, unless given), times the window, that
// begin every frame_step.
struct STFT {
  static constexpr OpInfo kInfo = {
      .name = "onnx.STFT",
      .operands = {"signal", "frame_step", Optional("window"), Optional("frame_length")},
      .onnx = "STFT",
      .since = 17,
      .doc = "Fourier transforms of pieces of a signal",
      .data = OverOperands(0, 2)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> onesided{};
    static constexpr auto Fields() {
      return std::tuple(Field{"onesided", &Attrs::onesided, int64_t{1}});
    }
  };
  static bool Infer(InferContext& c);
};

// All operands are scalars; the result is [dft_length / 2 + 1, num_mel_bins].
struct MelWeightMatrix {
  static constexpr OpInfo kInfo = {.name = "onnx.MelWeightMatrix",
                                   .operands = {"num_mel_bins", "dft_length", "sample_rate",
                                                "lower_edge_hertz", "upper_edge_hertz"},
                                   .onnx = "MelWeightMatrix",
                                   .since = 17,
                                   .doc = "triangular filters, evenly spaced on the mel scale",
                                   .data = 0};
  template <template <class> class Slot>
  struct Attrs {
    Slot<DataType> output_datatype{};
    static constexpr auto Fields() {
      return std::tuple(Field{"output_datatype", &Attrs::output_datatype, DataType::kF32});
    }
  };
  static bool Infer(InferContext& c);
};

// A sum of cosines over `size` (a scalar) elements; periodic: the first of size + 1.
struct WindowOp {
  template <template <class> class Slot>
  struct Attrs {
    Slot<DataType> output_datatype{};
    Slot<int64_t> periodic{};
    static constexpr auto Fields() {
      return std::tuple(Field{"output_datatype", &Attrs::output_datatype, DataType::kF32},
                        Field{"periodic", &Attrs::periodic, int64_t{1}});
    }
  };
  static bool Infer(InferContext& c);
};
constexpr OpInfo WindowInfo(std::string_view name, std::string_view doc) {
  return {.name = name,
          .operands = {"size"},
          .onnx = name.substr(kOnnxPrefix.size()),
          .since = 17,
          .doc = doc,
          .data = 0};
}
struct HannWindow : WindowOp {
  static constexpr OpInfo kInfo = WindowInfo("onnx.HannWindow", "0.5 - 0.5 cos(2 pi i / n)");
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
struct HammingWindow : WindowOp {
  static constexpr OpInfo kInfo =
      WindowInfo("onnx.HammingWindow", "25 / 46 - 21 / 46 cos(2 pi i / n)");
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
struct BlackmanWindow : WindowOp {
  static constexpr OpInfo kInfo =
      WindowInfo("onnx.BlackmanWindow", "0.42 - 0.5 cos(2 pi i / n) + 0.08 cos(4 pi i / n)");
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

void LoadSignalOps(IrContext& context);

}  // namespace weft::ir::ops
