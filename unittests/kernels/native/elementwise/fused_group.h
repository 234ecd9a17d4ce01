// Elementwise ops that fuse-elementwise makes one op of, and the same ops by themselves.
//
//   Group g;
//   const ir::Value x = g.Floats({2, 3});
//   g.Return(g.Make<ops::Relu>({g.Make<ops::Mul>({x, x})}));
//   g.ExpectTheSameBits();
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "ir/dialects/builtin.h"
#include "kernels/isa.h"
#include "passes/pass_manager.h"
#include "passes/pass_registry.h"
#include "unittests/kernels/agreement.h"

namespace weft::kernels {

// Ops to be fused: inputs given at run time, and what build() makes of them.
class Group {
 public:
  ir::Value Input(Tensor tensor) {
    const ir::Type type = context->TensorType(tensor.dtype(), tensor.dims());
    inputs.push_back(std::move(tensor));
    return builder.AddInput("x" + std::to_string(inputs.size() - 1), type);
  }
  // Random and distinct, with what is special in between.
  ir::Value Floats(ir::Shape dims, float low = -3, float high = 3, bool special = true) {
    Tensor tensor = RandomIn(std::move(dims), inputs.size() + 1, low, high);
    constexpr float kInf = std::numeric_limits<float>::infinity();
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> specials = {kNan, kInf, -kInf, -0.0f, 0.0f, 1e-40f, -1e38f, 1e38f};
    const std::span<float> values = tensor.values<float>();
    for (size_t i = 0; special && values.size() > 8 && i < values.size(); i += 5)
      values[i] = specials[(i / 5 + inputs.size()) % specials.size()];
    return Input(std::move(tensor));
  }
  ir::Value Bools(ir::Shape dims) {
    return Input(*RandomTensor(DataType::kBool, std::move(dims), inputs.size() + 1, 0));
  }
  ir::Value Scalar(double value) { return builder.ConstantScalar(DataType::kF32, value); }
  template <class O>
  ir::Value Make(ir::ValueList operands,
                 const typename O::template Attrs<ir::BuilderSlot>& attrs = {}) {
    return builder.Make<O>(operands, attrs);
  }
  void Return(ir::Value y) { builder.Return({{"y", y}}); }

  absl::StatusOr<std::vector<Tensor>> Run(const ir::Program& p, const RunOptions& options) const {
    auto session = Session::Create(p, options.ForSession());
    if (!session.ok()) return session.status();
    std::vector<TensorView> views;
    for (const Tensor& input : inputs) views.push_back(input.view());
    return (*session)->Run(views);
  }

  // The program with all its ops in one.
  std::unique_ptr<ir::Program> Fused() const {
    std::unique_ptr<ir::Program> fused = program.Clone();
    passes::PassManager pm(context.get());
    pm.AddPass(passes::MakePass("fuse-elementwise"));
    EXPECT_EQ(pm.Run(*fused).message(), "");
    int ops = 0;
    for (const ir::Operation op : fused->body())
      ops += !op.Is<ir::ReturnOp>() && !op.HasTrait(ir::kConstantLike);
    EXPECT_EQ(ops, 1);
    return fused;
  }
  std::string ProviderOfFused(const ir::Program& fused) const {
    auto session = Session::Create(fused, {.provider = "auto"});
    if (!session.ok()) return std::string(session.status().message());
    std::vector<std::span<const int64_t>> dims;
    for (const Tensor& input : inputs) dims.emplace_back(input.dims());
    const auto plan = (*session)->PlanFor(dims);
    if (!plan.ok()) return std::string(plan.status().message());
    return (*plan)->steps().empty() ? "none" : (*plan)->steps()[0].provider;
  }

  void ExpectTheSameBits() const;

  std::unique_ptr<ir::IrContext> context = [] {
    auto c = std::make_unique<ir::IrContext>();
    ir::LoadFusedDialect(*c);
    return c;
  }();
  ir::Program program{context.get()};
  ir::Builder builder{&program};
  std::vector<Tensor> inputs;
};

// Any NaN is as good as another.
inline void ExpectSame(const Tensor& actual, const Tensor& expected) {
  ASSERT_EQ(actual.dtype(), expected.dtype());
  ASSERT_TRUE(std::ranges::equal(actual.dims(), expected.dims()));
  if (actual.dtype() == DataType::kBool) {
    EXPECT_EQ(ValuesOf<uint8_t>(actual), ValuesOf<uint8_t>(expected));
    return;
  }
  const std::span<float> a = actual.values<float>(), b = expected.values<float>();
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_TRUE(std::bit_cast<uint32_t>(a[i]) == std::bit_cast<uint32_t>(b[i]) ||
                (std::isnan(a[i]) && std::isnan(b[i])))
        << "element " << i << ": " << a[i] << ", alone " << b[i];
}

inline void Group::ExpectTheSameBits() const {
  const std::unique_ptr<ir::Program> fused = Fused();
  EXPECT_EQ(ProviderOfFused(*fused), "native");
  const Isa before = CurrentIsa();
  for (const Isa isa : SupportedIsas()) {
    SetIsa(isa);
    for (const int threads : {1, 2}) {
      SCOPED_TRACE(std::string(IsaName(isa)) + ", threads: " + std::to_string(threads));
      const auto expected = Run(program, {.provider = "auto", .threads = threads});
      const auto actual = Run(*fused, {.provider = "auto", .threads = threads});
      ASSERT_TRUE(expected.ok()) << expected.status();
      ASSERT_TRUE(actual.ok()) << actual.status();
      ExpectSame((*actual)[0], (*expected)[0]);
    }
  }
  SetIsa(before);
  const auto expected = Run(program, {.provider = "reference"});
  const auto actual = Run(*fused, {.provider = "reference"});
  ASSERT_TRUE(expected.ok() && actual.ok()) << actual.status();
  ExpectSame((*actual)[0], (*expected)[0]);
}

}  // namespace weft::kernels
