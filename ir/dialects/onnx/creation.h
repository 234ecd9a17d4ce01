// Operators that make tensors out of little: a range, a diagonal, random numbers, a size.
#pragma once

#include "ir/dialects/onnx/infer/op_base.h"

namespace weft::ir::ops {

// start, start + delta, ... before limit. f16 and bf16 are computed in a wider type whatever
// stash_type is.
struct Range {
  static constexpr OpInfo kInfo = {.name = "onnx.Range",
                                   .operands = {"start", "limit", "delta"},
                                   .onnx = "Range",
                                   .since = 27,
                                   .doc = "numbers at equal distances"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> stash_type{};
    static constexpr auto Fields() {
      return std::tuple(Field{"stash_type", &Attrs::stash_type, int64_t{1}});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// How many numbers a range has; nullopt when that is no number or too many, or when delta is 0.
std::optional<int64_t> RangeSize(int64_t start, int64_t limit, int64_t delta);
std::optional<int64_t> RangeSize(double start, double limit, double delta);

// out[i][i + k] = 1
struct EyeLike {
  static constexpr OpInfo kInfo = {.name = "onnx.EyeLike",
                                   .operands = {"x"},
                                   .traits = kPure | kReadsShapesOnly,
                                   .onnx = "EyeLike",
                                   .since = 22,
                                   .doc = "a matrix of zeros with ones on a diagonal"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<DataType>> dtype{};
    Slot<int64_t> k{};
    static constexpr auto Fields() {
      return std::tuple(Field{"dtype", &Attrs::dtype}, Field{"k", &Attrs::k, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
};

struct Size {
  static constexpr OpInfo kInfo = {.name = "onnx.Size",
                                   .operands = {"data"},
                                   .traits = kPure | kReadsShapesOnly,
                                   .onnx = "Size",
                                   .since = 25,
                                   .doc = "the number of elements of a tensor"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

// --- random numbers -------------------------------------------------------------------
// A seed decides the numbers: each run gives the same. Without one it is 0.

struct RandomNormal {
  static constexpr OpInfo kInfo = {.name = "onnx.RandomNormal",
                                   .operands = {},
                                   .traits = kPure | kRandom,
                                   .onnx = "RandomNormal",
                                   .since = 22,
                                   .doc = "normally distributed numbers"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<DataType> dtype{};
    Slot<float> mean{};
    Slot<float> scale{};
    Slot<std::optional<float>> seed{};
    Slot<Ints> shape{};
    static constexpr auto Fields() {
      return std::tuple(Field{"dtype", &Attrs::dtype, DataType::kF32},
                        Field{"mean", &Attrs::mean, 0.0f}, Field{"scale", &Attrs::scale, 1.0f},
                        Field{"seed", &Attrs::seed}, Field{"shape", &Attrs::shape});
    }
  };
  static bool Infer(InferContext& c);
};

struct RandomNormalLike {
  static constexpr OpInfo kInfo = {.name = "onnx.RandomNormalLike",
                                   .operands = {"x"},
                                   .traits = kPure | kRandom | kReadsShapesOnly,
                                   .onnx = "RandomNormalLike",
                                   .since = 22,
                                   .doc = "normally distributed numbers in the shape of x"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<DataType>> dtype{};
    Slot<float> mean{};
    Slot<float> scale{};
    Slot<std::optional<float>> seed{};
    static constexpr auto Fields() {
      return std::tuple(Field{"dtype", &Attrs::dtype}, Field{"mean", &Attrs::mean, 0.0f},
                        Field{"scale", &Attrs::scale, 1.0f}, Field{"seed", &Attrs::seed});
    }
  };
  static bool Infer(InferContext& c);
};

struct RandomUniform {
  static constexpr OpInfo kInfo = {.name = "onnx.RandomUniform",
                                   .operands = {},
                                   .traits = kPure | kRandom,
                                   .onnx = "RandomUniform",
                                   .since = 22,
                                   .doc = "uniformly distributed numbers"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<DataType> dtype{};
    Slot<float> high{};
    Slot<float> low{};
    Slot<std::optional<float>> seed{};
    Slot<Ints> shape{};
    static constexpr auto Fields() {
      return std::tuple(Field{"dtype", &Attrs::dtype, DataType::kF32},
                        Field{"high", &Attrs::high, 1.0f}, Field{"low", &Attrs::low, 0.0f},
                        Field{"seed", &Attrs::seed}, Field{"shape", &Attrs::shape});
    }
  };
  static bool Infer(InferContext& c);
};

struct RandomUniformLike {
  static constexpr OpInfo kInfo = {.name = "onnx.RandomUniformLike",
                                   .operands = {"x"},
                                   .traits = kPure | kRandom | kReadsShapesOnly,
                                   .onnx = "RandomUniformLike",
                                   .since = 22,
                                   .doc = "uniformly distributed numbers in the shape of x"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<DataType>> dtype{};
    Slot<float> high{};
    Slot<float> low{};
    Slot<std::optional<float>> seed{};
    static constexpr auto Fields() {
      return std::tuple(Field{"dtype", &Attrs::dtype}, Field{"high", &Attrs::high, 1.0f},
                        Field{"low", &Attrs::low, 0.0f}, Field{"seed", &Attrs::seed});
    }
  };
  static bool Infer(InferContext& c);
};

struct Bernoulli {
  static constexpr OpInfo kInfo = {.name = "onnx.Bernoulli",
                                   .operands = {"x"},
                                   .traits = kPure | kRandom,
                                   .onnx = "Bernoulli",
                                   .since = 22,
                                   .doc = "1 with the probability that x says, else 0"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<DataType>> dtype{};
    Slot<std::optional<float>> seed{};
    static constexpr auto Fields() {
      return std::tuple(Field{"dtype", &Attrs::dtype}, Field{"seed", &Attrs::seed});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// x is [batches, classes], the logarithms of their weights; the result [batches, sample_size].
struct Multinomial {
  static constexpr OpInfo kInfo = {.name = "onnx.Multinomial",
                                   .operands = {"x"},
                                   .traits = kPure | kRandom,
                                   .onnx = "Multinomial",
                                   .since = 22,
                                   .doc = "classes drawn with given probabilities"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<DataType> dtype{};
    Slot<int64_t> sample_size{};
    Slot<std::optional<float>> seed{};
    static constexpr auto Fields() {
      return std::tuple(Field{"dtype", &Attrs::dtype, DataType::kI32},
                        Field{"sample_size", &Attrs::sample_size, int64_t{1}},
                        Field{"seed", &Attrs::seed});
    }
  };
  static bool Infer(InferContext& c);
};

void LoadCreationOps(IrContext& context);

}  // namespace weft::ir::ops
