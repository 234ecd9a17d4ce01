// The dialect of the rewriting workloads (workloads.h), written as a user outside the tree writes
// one: transpose, relu, add, mul, matmul, matmul_add_relu, a hundred unary ops k0..k39 and m0..m59,
// fused, sink, return and graph. Every op infers its result type.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "ir/infer.h"
#include "ir/op_def.h"

namespace weft::bench {

using ir::DataType;
using ir::InferContext;
using ir::Ints;
using ir::OpInfo;
using ir::Type;

inline bool SameAsFirst(InferContext& c) { return c.SetResult(0, c.operand_type(0)); }

// x with `bias`, whose dims must be x's last ones.
inline bool SameAsFirstPlus(InferContext& c, size_t bias) {
  const Type x = c.operand_type(0), b = c.operand_type(bias);
  if (!x.HasRank() || !b.HasRank()) return c.Unknown();
  if (b.rank() > x.rank()) return c.Fail("the second operand has the larger rank");
  for (size_t i = 0; i < b.rank(); ++i)
    if (b.dims()[i] != x.dims()[x.rank() - b.rank() + i])
      return c.Fail("the second operand does not broadcast to the first");
  return c.SetResult(0, x);
}

// x [..., m, k] times w [k, n].
inline bool InferMatMul(InferContext& c) {
  const Type x = c.operand_type(0), w = c.operand_type(1);
  if (!x.HasRank() || !w.HasRank()) return c.Unknown();
  if (x.rank() < 1 || w.rank() != 2) return c.Fail("wants a matrix on the right");
  if (x.dim(-1) != w.dim(0)) return c.Fail("the inner dimensions differ");
  if (w.dim(0) == w.dim(1)) return c.SetResult(0, x);
  ir::Shape dims = x.shape();
  dims.back() = w.dim(1);
  return c.SetResult(0, x.dtype(), dims);
}

struct Transpose {
  static constexpr OpInfo kInfo = {.name = "bench.transpose", .operands = {"x"}};
  template <template <class> class Slot>
  struct Attrs {
    Slot<Ints> perm{};
    static constexpr auto Fields() { return std::tuple(ir::Field{"perm", &Attrs::perm}); }
  };
  static bool Infer(InferContext& c) {
    constexpr size_t kMaxRank = 8;
    static const ir::Name kPerm("perm");
    const Type x = c.operand_type(0);
    const ir::Attribute attr = c.attrs().Get(kPerm);
    if (!x.HasRank() || !attr.Is(ir::AttrKind::kInts)) return c.Unknown();
    const Ints& perm = attr.AsInts();
    const size_t rank = x.rank();
    if (rank > kMaxRank || perm.size() != rank) return c.Fail("perm does not fit the rank");
    std::array<int64_t, kMaxRank> dims;
    uint32_t seen = 0;
    for (size_t i = 0; i < rank; ++i) {
      if (perm[i] < 0 || perm[i] >= static_cast<int64_t>(rank) || (seen >> perm[i] & 1))
        return c.Fail("perm is no permutation");
      seen |= 1u << perm[i];
      dims[i] = x.dims()[perm[i]];
    }
    return c.SetResult(0, x.dtype(), std::span(dims.data(), rank));
  }
};

struct Relu {
  static constexpr OpInfo kInfo = {.name = "bench.relu", .operands = {"x"}};
  template <template <class> class Slot>
  using Attrs = ir::NoAttrs<Slot>;
  static bool Infer(InferContext& c) { return SameAsFirst(c); }
};
struct Add {
  static constexpr OpInfo kInfo = {.name = "bench.add", .operands = {"x", "y"}};
  template <template <class> class Slot>
  using Attrs = ir::NoAttrs<Slot>;
  static bool Infer(InferContext& c) { return SameAsFirstPlus(c, 1); }
};
struct Mul {
  static constexpr OpInfo kInfo = {.name = "bench.mul", .operands = {"x", "y"}};
  template <template <class> class Slot>
  using Attrs = ir::NoAttrs<Slot>;
  static bool Infer(InferContext& c) { return SameAsFirstPlus(c, 1); }
};
struct MatMul {
  static constexpr OpInfo kInfo = {.name = "bench.matmul", .operands = {"x", "w"}};
  template <template <class> class Slot>
  using Attrs = ir::NoAttrs<Slot>;
  static bool Infer(InferContext& c) { return InferMatMul(c); }
};
struct MatMulAddRelu {
  static constexpr OpInfo kInfo = {.name = "bench.matmul_add_relu", .operands = {"x", "w", "b"}};
  template <template <class> class Slot>
  using Attrs = ir::NoAttrs<Slot>;
  static bool Infer(InferContext& c) { return InferMatMul(c); }
};
struct Fused {
  static constexpr OpInfo kInfo = {.name = "bench.fused", .operands = {"x"}};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> id{};
    static constexpr auto Fields() { return std::tuple(ir::Field{"id", &Attrs::id}); }
  };
  static bool Infer(InferContext& c) { return SameAsFirst(c); }
};

struct Sink {
  static constexpr OpInfo kInfo = {.name = "bench.sink",
                                   .operands = {ir::Variadic("values")},
                                   .results = {},
                                   .traits = ir::kNone};
  template <template <class> class Slot>
  using Attrs = ir::NoAttrs<Slot>;
};
struct Return {
  static constexpr OpInfo kInfo = {.name = "bench.return",
                                   .operands = {ir::Variadic("values")},
                                   .results = {},
                                   .traits = ir::kTerminator};
  template <template <class> class Slot>
  using Attrs = ir::NoAttrs<Slot>;
};
struct Graph {
  static constexpr OpInfo kInfo = {.name = "bench.graph",
                                   .operands = {},
                                   .results = {},
                                   .traits = ir::kIsolated,
                                   .num_regions = 1};
  template <template <class> class Slot>
  using Attrs = ir::NoAttrs<Slot>;
};

// Text put together by the compiler: an op or rule name with a number in it.
struct NumberedText {
  std::array<char, 48> chars{};
  size_t size = 0;
  constexpr NumberedText(std::string_view prefix, int number) {
    for (char c : prefix) chars[size++] = c;
    int unit = 1;
    while (number / unit >= 10) unit *= 10;
    for (; unit > 0; unit /= 10) chars[size++] = static_cast<char>('0' + number / unit % 10);
  }
  constexpr std::string_view view() const { return {chars.data(), size}; }
};

inline constexpr int kNumK = 40, kNumM = 60;

// k0 .. k39 are Unary<0> .. Unary<39>, m0 .. m59 the sixty that follow.
template <int kIndex>
struct Unary {
  static constexpr NumberedText kText = {kIndex < kNumK ? "bench.k" : "bench.m",
                                         kIndex < kNumK ? kIndex : kIndex - kNumK};
  static constexpr OpInfo kInfo = {.name = kText.view(), .operands = {"x"}};
  template <template <class> class Slot>
  using Attrs = ir::NoAttrs<Slot>;
  static bool Infer(InferContext& c) { return SameAsFirst(c); }
};

inline void LoadBenchDialect(ir::IrContext& context) {
  ir::AddOps<Transpose, Relu, Add, Mul, MatMul, MatMulAddRelu, Fused, Sink, Return, Graph>(context);
  [&]<int... kIndex>(std::integer_sequence<int, kIndex...>) {
    ir::AddOps<Unary<kIndex>...>(context);
  }
  (std::make_integer_sequence<int, kNumK + kNumM>());
}

}  // namespace weft::bench
