// Reference bodies against the kernels that compute the same ops directly.
#include <gmock/gmock.h>

#include <functional>
#include <set>

#include "ir/analysis/reference_body.h"
#include "ir/dialects/microsoft.h"
#include "ir/infer.h"
#include "kernels/runtime/missing_kernels.h"
#include "kernels/runtime/registry.h"
#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

using ir::Value;

// A program of one op that returns its results and those of its body.
struct Comparison {
  explicit Comparison(std::vector<Operand> given) : operands(std::move(given)) {
    ir::LoadFusedDialect(context);
    for (const Operand& operand : operands) values.push_back(ValueOf(operand));
  }
  Value ValueOf(const Operand& operand) {
    if (operand.tensor == nullptr) return {};
    const Tensor& t = *operand.tensor;
    const ir::Type type = context.TensorType(t.dtype(), t.dims());
    if (operand.constant)
      return builder.Constant(context.DenseAttr(type, {t.view().data, t.view().NumBytes()}));
    inputs.push_back(t.view());
    return builder.AddInput("x" + std::to_string(inputs.size()), type);
  }

  template <class O>
  void Run(const typename O::template Attrs<ir::BuilderSlot>& attrs, size_t num_results,
           double tolerance) {
    ir::OperationState state{
        .opcode = ir::kOpcodeOf<O>, .operands = values, .attrs = ir::MakeAttrs<O>(context, attrs)};
    ir::Operation op;
    std::string error;
    ASSERT_TRUE(builder.TryCreate(std::move(state), num_results, &op, &error)) << error;
    const std::vector<Value> body = ir::BuildReferenceBody(builder, op, values);
    ASSERT_EQ(body.size(), num_results);
    std::vector<std::pair<std::string, Value>> outputs;
    for (uint32_t i = 0; i < num_results; ++i) {
      EXPECT_TRUE(ir::Compatible(op.result(i).type(), body[i].type()))
          << op.result(i).type().ToString() << " but its body " << body[i].type().ToString();
      outputs.emplace_back("op" + std::to_string(i), op.result(i));
      outputs.emplace_back("body" + std::to_string(i), body[i]);
    }
    builder.Return(std::move(outputs));
    auto session = Session::Create(program, {.provider = "reference"});
    ASSERT_TRUE(session.ok()) << session.status();
    const auto results = (*session)->Run(inputs);
    ASSERT_TRUE(results.ok()) << results.status();
    for (size_t i = 0; i < results->size(); i += 2) {
      const Tensor &direct = (*results)[i], &by_body = (*results)[i + 1];
      ASSERT_EQ(direct.dtype(), by_body.dtype());
      ASSERT_EQ(ir::ToString(direct.dims()), ir::ToString(by_body.dims()));
      EXPECT_LE(RelativeDifference(by_body.view(), direct.view()), tolerance) << "result " << i / 2;
    }
  }

  std::vector<Operand> operands;
  ir::IrContext context;
  ir::Program program{&context};
  ir::Builder builder{&program};
  std::vector<Value> values;
  std::vector<TensorView> inputs;
};

// Result `name` of an op that has a body for the results before it only.
template <class O>
void ExpectWithoutBody(std::vector<Operand> operands,
                       const typename O::template Attrs<ir::BuilderSlot>& attrs,
                       const std::string& name) {
  Comparison c(std::move(operands));
  LoadMicrosoftDialect(c.context);
  const ir::Operation op = c.builder.Create<O>(c.values, attrs, 4);
  c.builder.Return({{"y", op.result()}});
  const auto missing = MissingKernels(c.program, {"reference"});
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_THAT(missing[0].why, testing::HasSubstr("no kernel computes its result " + name));
}

TEST(Bodies, MissingKernelsNameAResultThatABodyDoesNotGive) {
  namespace microsoft = ir::microsoft;
  const Operand x = Random({1, 2, 8}, 1);
  ExpectWithoutBody<microsoft::MultiHeadAttention>({x, x, x}, {.num_heads = 2}, "qk");
  // The sizes of this one's follow from values.
  ExpectWithoutBody<microsoft::GroupQueryAttention>({x, x, x, {}, {}, I32({1}, {1}), I32({}, {2})},
                                                    {.kv_num_heads = 2, .num_heads = 2},
                                                    "output_qk");
}

// A count of keys that is one too large, as many have it, would leave the new key out.
TEST(Bodies, OfGroupQueryAttentionRefusesKeysBehindTheEndOfTheCache) {
  const Operand x = Random({1, 1, 8}, 1), past = Random({1, 2, 3, 4}, 2);
  for (const int32_t keys_before : {3, 4}) {
    Comparison c({x, x, x, past, past, I32({1}, {keys_before}), Constant(I32({}, {4}))});
    LoadMicrosoftDialect(c.context);
    const ir::Operation op = c.builder.Create<ir::microsoft::GroupQueryAttention>(
        c.values, {.kv_num_heads = 2, .num_heads = 2}, 3);
    c.builder.Return({{"y", op.result(0)}, {"keys", op.result(1)}, {"values", op.result(2)}});
    auto session = Session::Create(c.program, {.provider = "reference"});
    ASSERT_TRUE(session.ok()) << session.status();
    const auto results = (*session)->Run(c.inputs);
    EXPECT_EQ(results.ok(), keys_before == 3) << results.status();
    if (!results.ok())
      EXPECT_THAT(std::string(results.status().message()),
                  testing::HasSubstr("write index 4 is out of range for 1 rows in a cache of 4"));
  }
}

struct Case {
  std::string_view op;
  std::function<void()> run;
};

template <class O>
Case Of(std::vector<Operand> operands,
        const typename O::template Attrs<ir::BuilderSlot>& attrs = {}, size_t num_results = 1,
        double tolerance = 1e-5) {
  return {O::kInfo.name, [=] {
            SCOPED_TRACE(O::kInfo.name);
            Comparison(operands).template Run<O>(attrs, num_results, tolerance);
          }};
}

Tensor Half(ir::Shape dims, uint64_t seed) {
  return *RandomTensor(DataType::kF16, std::move(dims), seed, 0);
}
Tensor Wide() { return F32({7}, {-100, -2, -0.5, 0, 0.25, 3, 100}); }
Tensor A() { return F32({2, 3}, {1, 2, 3, 4, 5, 6}); }
Tensor B() { return F32({3}, {1, 5, 3}); }
Tensor Scalar(int64_t value) { return I64({}, {value}); }

std::vector<Case> Elementwise() {
  return {Of<ops::Relu>({Wide()}),
          Of<ops::Relu>({I32({3}, {-1, 0, 7})}),
          Of<ops::HardSwish>({Wide()}),
          Of<ops::HardSigmoid>({Wide()}, {.alpha = 0.5f, .beta = 0.25f}),
          Of<ops::LeakyRelu>({Wide()}, {.alpha = 0.125f}),
          Of<ops::Elu>({F32({4}, {-3, -0.5, 0, 2})}, {.alpha = 0.5f}),
          Of<ops::Selu>({F32({4}, {-3, -0.5, 0, 2})}),
          Of<ops::GreaterOrEqual>({A(), B()}),
          Of<ops::LessOrEqual>({A(), B()}),
          Of<ops::Clip>({Wide()}),
          Of<ops::Clip>({Wide(), F32({}, {-1})}),
          Of<ops::Clip>({Wide(), Operand(), F32({1, 1}, {1})}),
          Of<ops::Softplus>({Wide()}),
          Of<ops::Softsign>({Wide()}),
          Of<ops::Mish>({Wide()}),
          Of<ops::Celu>({F32({4}, {-3, -0.5, 0, 2})}, {.alpha = 2.0f}),
          Of<ops::ThresholdedRelu>({Wide()}, {.alpha = 0.5f}),
          Of<ops::Swish>({Wide()}, {.alpha = 0.5f}),
          Of<ops::Shrink>({Wide()}, {.bias = 0.25f, .lambd = 0.75f}),
          Of<ops::Shrink>({I32({4}, {-3, -1, 1, 3})}, {.bias = 1.0f, .lambd = 1.5f}),
          Of<ops::Gelu>({Wide()}),
          Of<ops::Gelu>({Wide()}, {.approximate = ops::GeluApproximation::kTanh}),
          Of<ops::PRelu>({Random({2, 3}, 1), F32({3}, {0.5, 2, -1})})};
}

std::vector<Case> Reductions() {
  const auto x = [] { return Random({2, 3, 4}, 1); };
  return {Of<ops::ReduceL1>({x()}, {.axes = ir::Ints{1}}),
          Of<ops::ReduceL1>({x(), I64({1}, {2})}, {.keepdims = 0}),
          Of<ops::ReduceL2>({x()}, {.axes = ir::Ints{0, 2}}),
          Of<ops::ReduceL2>({I32({2, 2}, {3, 4, 5, 12})}, {.axes = ir::Ints{1}}),
          Of<ops::ReduceSumSquare>({x()}),
          Of<ops::ReduceLogSum>({F32({2, 2}, {1, 2, 3, 4})}, {.axes = ir::Ints{-1}}),
          Of<ops::ReduceLogSumExp>({F32({2, 2}, {1, 2, 300, 301})}, {.axes = ir::Ints{-1}}),
          Of<ops::Softmax>({F32({2, 2}, {1, 2, 300, 301})}), Of<ops::Softmax>({x()}, {.axis = 1}),
          Of<ops::LogSoftmax>({F32({2, 2}, {1, 2, 300, 320})}),
          Of<ops::Range>({Scalar(3), Scalar(-6), Scalar(-2)}),
          Of<ops::Range>({F32({}, {1}), F32({}, {2.5}), F32({}, {0.5})}),
          Of<ops::DynamicQuantizeLinear>({x()}, {}, 3),
          Of<ops::DynamicQuantizeLinear>({F32({2}, {0, 0})}, {}, 3),
          // Probabilities of 0 and 1 leave nothing to chance.
          Of<ops::Bernoulli>({F32({4}, {0, 1, 1, 0})}, {.dtype = DataType::kI32})};
}

std::vector<Case> Normalizations() {
  const auto x = [] { return Random({2, 4, 3, 3}, 1); };
  const auto c = [](uint64_t seed) { return Random({4}, seed); };
  return {Of<ops::LayerNormalization>({Random({2, 3, 4}, 1), c(2), c(3)}, {.epsilon = 0.1f}, 3),
          Of<ops::LayerNormalization>({Random({2, 3, 4}, 1), Random({3, 4}, 2)}, {.axis = 1}),
          Of<ops::LayerNormalization>({Half({2, 4}, 1), Half({4}, 2), Half({4}, 3)}, {}, 1, 2e-3),
          Of<ops::MeanVarianceNormalization>({x()}),
          Of<ops::GroupNormalization>({x(), c(2), c(3)}, {.num_groups = 2}),
          Of<ops::GroupNormalization>({Half({2, 4, 5}, 1), Half({4}, 2), Half({4}, 3)},
                                      {.num_groups = 2}, 1, 2e-3),
          Of<ops::RMSNormalization>({x(), Random({3}, 2)}, {.epsilon = 0.1f}),
          Of<ops::RMSNormalization>({x(), Random({4, 3, 3}, 2)}, {.axis = 1}),
          Of<ops::RMSNormalization>({Half({2, 4}, 1), Half({4}, 2)}, {}, 1, 2e-3)};
}

std::vector<Case> Losses() {
  using Reduction = ops::LossReduction;
  const auto x = [] { return Random({3, 4, 2}, 1); };
  const auto classes = [] { return I64({3, 2}, {0, 3, 1, 1, 2, 0}); };
  const auto weights = [] { return F32({4}, {0.5, 1, 2, 4}); };
  return {Of<ops::NegativeLogLikelihoodLoss>({x(), classes()}, {.reduction = Reduction::kNone}),
          Of<ops::NegativeLogLikelihoodLoss>({x(), classes(), weights()}),
          Of<ops::NegativeLogLikelihoodLoss>({x(), classes()}, {.ignore_index = 1}),
          Of<ops::SoftmaxCrossEntropyLoss>({x(), classes()}, {.reduction = Reduction::kSum}, 2),
          Of<ops::SoftmaxCrossEntropyLoss>({x(), classes(), weights()}, {.ignore_index = 0}, 2)};
}

std::vector<Case> Shapes() {
  const auto theta = [] { return Random({2, 2, 3}, 1); };
  const auto size = [] { return I64({4}, {2, 1, 3, 5}); };
  return {Of<ops::HannWindow>({Scalar(7)}),
          Of<ops::HannWindow>({Scalar(1)}, {.periodic = 0}),
          Of<ops::HammingWindow>({Constant(Scalar(6))}, {.periodic = 0}),
          Of<ops::BlackmanWindow>({I32({}, {8})}, {.output_datatype = DataType::kF64}),
          Of<ops::AffineGrid>({theta(), size()}),
          Of<ops::AffineGrid>({theta(), Constant(size())}, {.align_corners = 1}),
          Of<ops::AffineGrid>({Random({1, 3, 4}, 1), Constant(I64({5}, {1, 1, 2, 3, 4}))}),
          Of<ops::CenterCropPad>({Random({5, 4}, 1), I64({2}, {2, 7})}),
          Of<ops::CenterCropPad>({Random({5, 4, 3}, 1), Constant(I64({2}, {8, 2}))},
                                 {.axes = ir::Ints{0, -1}})};
}

std::vector<Case> Caches() {
  const Operand cache = Random({2, 3, 5, 4}, 1), rows = Random({2, 3, 2, 4}, 2);
  return {
      Of<ops::TensorScatter>({cache, rows}),
      Of<ops::TensorScatter>({cache, rows, I64({2}, {3, 0})}, {.axis = 2}),
      Of<ops::TensorScatter>({cache, rows, I64({2}, {4, 12})}, {.mode = ops::CacheMode::kCircular}),
      Of<ops::TensorScatter>({cache, Random({2, 3, 5, 3}, 2), I64({2}, {0, 1})}, {.axis = -1}),
      Of<ops::TensorScatter>({cache, Random({2, 2, 5, 4}, 2), I64({2}, {1, 0})}, {.axis = 1}),
      Of<ops::TensorScatter>({Random({3, 5}, 1), Random({3, 0}, 2), I64({3}, {1, 0, 5})},
                             {.axis = 1})};
}

std::vector<Case> Attentions() {
  const auto q = [] { return Random({2, 4, 3, 8}, 1); };
  const auto k = [](int64_t keys) { return Random({2, 2, keys, 8}, 2); };
  const auto v = [](int64_t keys) { return Random({2, 2, keys, 6}, 3); };
  return {Of<ops::Attention>({q(), k(5), v(5)}),
          Of<ops::Attention>({q(), k(5), v(5)}, {.is_causal = 1, .qk_matmul_output_mode = 3}, 4),
          Of<ops::Attention>({q(), k(5), v(5), Random({2, 1, 3, 7}, 4), k(2), v(2)},
                             {.is_causal = 1, .qk_matmul_output_mode = 2, .scale = 0.5f}, 4),
          Of<ops::Attention>({q(), k(5), v(5), Bool({3, 4}, {1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1})},
                             {.qk_matmul_output_mode = 1, .softcap = 2.0f}, 4),
          Of<ops::Attention>({q(), k(5), v(5), Operand(), Operand(), Operand(), I64({2}, {3, 5})},
                             {.is_causal = 1}),
          Of<ops::Attention>({Random({2, 3, 8}, 1), Random({2, 5, 4}, 2), Random({2, 5, 6}, 3)},
                             {.kv_num_heads = 2, .q_num_heads = 4}, 3),
          Of<ops::RotaryEmbedding>({q(), Random({2, 3, 4}, 5), Random({2, 3, 4}, 6)}),
          Of<ops::RotaryEmbedding>({Random({2, 3, 16}, 1), Random({9, 2}, 5), Random({9, 2}, 6),
                                    I64({2, 3}, {0, 1, -9, 6, 7, -1})},
                                   {.interleaved = 1, .num_heads = 2, .rotary_embedding_dim = 4}),
          Of<ops::CausalConvWithState>({Random({2, 3, 5}, 1), Random({3, 1, 4}, 2)}, {}, 2),
          Of<ops::CausalConvWithState>(
              {Random({2, 3, 5}, 1), Random({3, 1, 4}, 2), Random({3}, 3), Random({2, 3, 3}, 4)},
              {.activation = ops::CausalActivation::kSilu}, 2)};
}

std::vector<Case> AllCases() {
  std::vector<Case> all;
  for (auto make : {Elementwise, Reductions, Normalizations, Losses, Shapes, Caches, Attentions})
    for (Case& c : make()) all.push_back(std::move(c));
  return all;
}

TEST(ReferenceBodies, ComputeWhatTheKernelsDo) {
  for (const Case& c : AllCases()) c.run();
}

TEST(ReferenceBodies, AreAllCompared) {
  ir::IrContext context;
  ir::LoadFusedDialect(context);
  std::set<std::string_view> expected, compared;
  for (const ir::OpDef* def : context.Ops()) {
    const std::vector<std::string> providers = ProvidersOf(def->opcode);
    const bool direct = std::count(providers.begin(), providers.end(), "reference") > 0;
    if (direct && def->decompose) expected.insert(def->name());
  }
  for (const Case& c : AllCases()) compared.insert(c.op);
  EXPECT_EQ(compared, expected);
}

}  // namespace
}  // namespace weft::kernels
