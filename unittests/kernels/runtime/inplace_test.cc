// Results in the memory of operands: a plan that shares memory gives the same bits as one that
// cannot, for every kernel that lets it, and shares only where it may.
#include "ir/analysis/inplace.h"

#include <gtest/gtest.h>

#include <optional>
#include <type_traits>

#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

// What one run did with the op looked at.
struct Outcome {
  int shared = -1;  // the operand whose memory the result took
  std::string provider;
  std::vector<std::byte> bytes;  // of the result
};

// transpose(op(exp(x0), exp(x1), ...)): no operand of the op is an input and no result an output.
// Operands of bool are made by Not, of integers by Neg; constants are operands themselves.
template <class O>
class InplaceOp {
 public:
  using Attrs = typename O::template Attrs<ir::BuilderSlot>;
  InplaceOp(std::vector<Operand> operands, ir::Shape result, Attrs attrs = {},
            DataType dtype = DataType::kF32)
      : operands_(std::move(operands)),
        result_{dtype, std::move(result)},
        attrs_(std::move(attrs)) {}

  // The provider runs the op and writes over that operand (-1: over none). Operands that are outputs
  // too are not written over, and the result is the same.
  void Expect(const std::string& provider, int shared) const {
    SCOPED_TRACE(std::string(O::kInfo.name) + " by " + provider);
    for (const int threads : {1, 2}) {
      const RunOptions options = {.provider = provider == "xnnpack" ? "xnnpack" : "auto",
                                  .threads = threads};
      const Outcome alone = Run(options, false), kept = Run(options, true);
      EXPECT_EQ(alone.provider, provider);
      EXPECT_EQ(alone.shared, shared);
      EXPECT_EQ(kept.shared, -1);
      EXPECT_FALSE(alone.bytes.empty());
      EXPECT_TRUE(alone.bytes == kept.bytes);
    }
  }

  Outcome Run(const RunOptions& options, bool keep, std::optional<int64_t> mark = {}) const {
    ir::IrContext context;
    ir::LoadFusedDialect(context);
    ir::Program program(&context);
    ir::Builder b(&program);
    std::vector<ir::Value> values;
    std::vector<TensorView> inputs;
    for (const Operand& operand : operands_) values.push_back(Make(b, operand, &inputs));
    ir::AttrDict attrs = ir::MakeAttrs<O>(context, attrs_);
    if (mark)
      attrs = context.With(attrs, ir::Name(ir::kInplaceAttr),
                           context.IntsAttr(std::vector<int64_t>{*mark}));
    const ir::Operation op = b.Create(
        ir::OperationState{.opcode = ir::kOpcodeOf<O>,
                           .operands = values,
                           .attrs = attrs,
                           .result_types = {context.TensorType(result_.dtype, result_.dims)},
                           .location = ir::Name("looked at")});
    std::vector<std::pair<std::string, ir::Value>> outputs = {
        {"y", b.Make<ops::Transpose>({op.result()})}};
    for (size_t i = 0; keep && i < values.size(); ++i)
      if (values[i]) outputs.emplace_back("kept" + std::to_string(i), values[i]);
    b.Return(std::move(outputs));
    return RunProgram(program, inputs, options);
  }

 private:
  static ir::Value Make(ir::Builder& b, const Operand& operand, std::vector<TensorView>* inputs) {
    if (!operand.tensor) return {};
    const TensorView view = operand.tensor->view();
    const ir::Type type = b.context()->TensorType(view.dtype, view.dims);
    if (operand.constant)
      return b.Constant(b.context()->DenseAttr(type, {view.data, view.NumBytes()}));
    inputs->push_back(view);
    const ir::Value x = b.AddInput("x" + std::to_string(inputs->size()), type);
    if (view.dtype == DataType::kBool) return b.Make<ops::Not>({x});
    return ir::IsFloat(view.dtype) ? b.Make<ops::Exp>({x}) : b.Make<ops::Neg>({x});
  }

  static Outcome RunProgram(const ir::Program& program, const std::vector<TensorView>& inputs,
                            const RunOptions& options) {
    Outcome outcome;
    auto session = Session::Create(program, options.ForSession());
    EXPECT_TRUE(session.ok()) << session.status();
    auto outputs = (*session)->Run(inputs);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    if (!outputs.ok()) return outcome;
    const TensorView y = (*outputs)[0].view();
    outcome.bytes.assign(y.data, y.data + y.NumBytes());
    std::vector<std::span<const int64_t>> dims;
    dims.reserve(inputs.size());
    for (const TensorView& input : inputs) dims.push_back(input.dims);
    const Plan* plan = *(*session)->PlanFor(dims);
    for (const Step& step : plan->steps()) {
      if (step.location != "looked at") continue;
      outcome.provider = step.provider;
      for (size_t i = 0; i < step.inputs.size(); ++i)
        if (step.inputs[i].data == step.outputs[0].data) outcome.shared = static_cast<int>(i);
    }
    return outcome;
  }

  std::vector<Operand> operands_;
  ResultType result_;
  Attrs attrs_;
};

const ir::Shape kSmall = {3, 37}, kLarge = {67, 1031};  // no multiple of any vector

template <class... Os>
void ExpectUnary(const std::string& provider) {
  for (const ir::Shape& dims : {kSmall, kLarge})
    (InplaceOp<Os>({Random(dims, 1)}, dims).Expect(provider, 0), ...);
}

// Both operands die: the first is taken. One that is broadcast cannot be.
template <class... Os>
void ExpectBinary(const std::string& provider) {
  for (const ir::Shape& dims : {kSmall, kLarge}) {
    const ir::Shape row = {dims[1]}, column = {dims[0], 1};
    const auto expect = [&](auto tag, const ir::Shape& a, const ir::Shape& b, int shared) {
      using O = typename decltype(tag)::type;
      InplaceOp<O>({Random(a, 1), Random(b, 2)}, dims).Expect(provider, shared);
    };
    (expect(std::type_identity<Os>(), dims, dims, 0), ...);
    (expect(std::type_identity<Os>(), dims, row, 0), ...);
    (expect(std::type_identity<Os>(), row, dims, 1), ...);
    (expect(std::type_identity<Os>(), column, dims, 1), ...);
    (expect(std::type_identity<Os>(), column, row, -1), ...);
  }
}

TEST(Inplace, NativeUnaryKernelsKeepEveryBit) {
  ExpectUnary<ops::Abs, ops::Neg, ops::Relu, ops::Sqrt, ops::Exp, ops::Log, ops::Erf, ops::Tanh,
              ops::Sigmoid, ops::HardSwish, ops::Reciprocal, ops::HardSigmoid, ops::LeakyRelu,
              fused::Gelu, ops::Softmax>("native");
}

TEST(Inplace, XnnpackUnaryKernelsKeepEveryBit) {
  ExpectUnary<ops::Abs, ops::Neg, ops::Relu, ops::Sqrt, ops::Sigmoid, ops::HardSwish,
              ops::LeakyRelu, ops::Elu, ops::Softmax>("xnnpack");
}

TEST(Inplace, NativeBinaryKernelsKeepEveryBit) {
  ExpectBinary<ops::Add, ops::Sub, ops::Mul, ops::Div, ops::Pow, ops::Min, ops::Max, ops::Sum>(
      "native");
}

TEST(Inplace, XnnpackBinaryKernelsKeepEveryBit) {
  ExpectBinary<ops::Add, ops::Sub, ops::Mul, ops::Div, ops::Min, ops::Max>("xnnpack");
}

TEST(Inplace, IntegersToo) {
  const ir::Shape dims = {2, 3};
  InplaceOp<ops::Add>({I64(dims, {1, 2, 3, 4, 5, 6}), I64(dims, {7, 8, 9, 10, 11, 12})}, dims, {},
                      DataType::kI64)
      .Expect("native", 0);
}

TEST(Inplace, SoftmaxOverAnyAxis) {
  InplaceOp<fused::MaskedSoftmax>({Random({9, 37}, 1), Random({37}, 2)}, {9, 37})
      .Expect("native", 0);
  InplaceOp<ops::Softmax>({Random({9, 37, 21}, 1)}, {9, 37, 21}, {.axis = 1}).Expect("native", 0);
}

TEST(Inplace, ClipReadsItsBoundsFirst) {
  InplaceOp<ops::Clip>({Random(kSmall, 1), Random({}, 2), Random({}, 3)}, kSmall)
      .Expect("native", 0);
  const Operand low = Constant(F32({}, {0.5})), high = Constant(F32({}, {2}));
  InplaceOp<ops::Clip>({Random(kSmall, 1), low, high}, kSmall).Expect("xnnpack", 0);
}

// The condition is of another type; of x and y the first of the result's shape is taken.
TEST(Inplace, WhereWritesOverWhatItChoosesFrom) {
  const auto where = [](const ir::Shape& x, const ir::Shape& y) {
    return InplaceOp<ops::Where>({Bool({2, 3}, {1, 0, 1, 0, 0, 1}), Random(x, 1), Random(y, 2)},
                                 {2, 3});
  };
  where({2, 3}, {2, 3}).Expect("native", 1);
  where({3}, {2, 3}).Expect("native", 2);
  where({3}, {2, 1}).Expect("native", -1);
}

TEST(Inplace, NormalizationsKeepEveryBit) {
  const ir::Shape dims = {19, 75};
  const Operand scale = Constant(Random({75}, 2)), shift = Constant(Random({75}, 3));
  InplaceOp<ops::LayerNormalization>({Random(dims, 1), scale, shift}, dims).Expect("native", 0);
  InplaceOp<fused::LayerNorm>({Random(dims, 1), scale, shift, Random(dims, 4)}, dims,
                              {.epsilon = 1e-5f})
      .Expect("native", 0);
  InplaceOp<fused::LayerNorm>({Constant(Random(dims, 1)), scale, shift, Random(dims, 4)}, dims,
                              {.epsilon = 1e-5f})
      .Expect("native", 3);
  const Operand c = Constant(Random({3}, 2));
  InplaceOp<ops::BatchNormalization>(
      {Random({2, 3, 35}, 1), c, c, c, Constant(RandomIn({3}, 5, 0.5, 1.5))}, {2, 3, 35})
      .Expect("native", 0);
}

TEST(Inplace, ProductsWriteOverTheResidualOnly) {
  const Operand w = Constant(Random({37, 37}, 2));
  InplaceOp<fused::Linear>({Random(kSmall, 1), w, Operand(), Random(kSmall, 3)}, kSmall,
                           {.activation = fused::Activation::kGelu})
      .Expect("native", 3);
  InplaceOp<fused::Linear>({Random(kSmall, 1), w}, kSmall).Expect("native", -1);
  InplaceOp<ops::Gemm>({Random(kSmall, 1), w, Random(kSmall, 3)}, kSmall).Expect("native", 2);
  // With weights that are computed the sum comes first: the residual is read behind it.
  InplaceOp<fused::Linear>({Random(kSmall, 1), Random({37, 37}, 2), Operand(), Random(kSmall, 3)},
                           kSmall)
      .Expect("native", -1);
  InplaceOp<fused::Conv2d>({Random({1, 9, 9, 5}, 1), Constant(Random({5, 5, 3, 3}, 2)),
                            Constant(Random({5}, 3)), Random({1, 9, 9, 5}, 4)},
                           {1, 9, 9, 5}, {.pads = ir::Ints{1, 1, 1, 1}})
      .Expect("native", 3);
}

// The oracle keeps its buffers apart: a result written over too early shows as a difference.
TEST(Inplace, ReferenceKernelsShareNothing) {
  EXPECT_EQ(InplaceOp<ops::Relu>({Random(kSmall, 1)}, kSmall).Run({}, false).shared, -1);
}

TEST(Inplace, AMarkPicksTheOperand) {
  const InplaceOp<ops::Sub> op({Random(kSmall, 1), Random(kSmall, 2)}, kSmall);
  const RunOptions options = {.provider = "auto"};
  const Outcome first = op.Run(options, false), second = op.Run(options, false, 1);
  EXPECT_EQ(first.shared, 0);
  EXPECT_EQ(second.shared, 1);
  EXPECT_TRUE(first.bytes == second.bytes);
}

// A session may be given a program that nobody verified, and what it folds makes marks stale.
TEST(Inplace, AMarkThatLiesIsNotBelieved) {
  const RunOptions options = {.provider = "auto"};
  const InplaceOp<ops::Sub> op({Random(kSmall, 1), Constant(Random(kSmall, 2))}, kSmall);
  const Outcome plain = op.Run(options, false), constant = op.Run(options, false, 1),
                kept = op.Run(options, true, 0);
  EXPECT_EQ(constant.shared, 0);
  EXPECT_EQ(kept.shared, -1);
  EXPECT_TRUE(plain.bytes == constant.bytes && plain.bytes == kept.bytes);
}

}  // namespace
}  // namespace weft::kernels
