#include "kernels/runtime/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "ir/builder.h"
#include "ir/dialects/builtin.h"
#include "unittests/kernels/one_cpu.h"
#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

using F = std::vector<float>;
using testing::HasSubstr;

class SessionTest : public testing::Test {
 protected:
  SessionTest() { ir::LoadFusedDialect(context); }

  ir::Type F32Type(ir::Shape dims) { return context.TensorType(DataType::kF32, dims); }
  // An op with a stated result type.
  template <class O>
  ir::Value Make(std::vector<ir::Value> operands, ir::Shape dims,
                 const typename O::template Attrs<ir::BuilderSlot>& attrs = {}) {
    return builder
        .Create(ir::OperationState{.opcode = ir::kOpcodeOf<O>,
                                   .operands = std::move(operands),
                                   .attrs = ir::MakeAttrs<O>(context, attrs),
                                   .result_types = {F32Type(std::move(dims))}})
        .result();
  }
  std::unique_ptr<Session> Load(SessionOptions options = {.provider = "reference"}) {
    auto session = Session::Create(program, options);
    EXPECT_TRUE(session.ok()) << session.status();
    return session.ok() ? *std::move(session) : nullptr;
  }
  static Plan* PlanOf(Session& session, std::vector<ir::Shape> shapes) {
    std::vector<std::span<const int64_t>> dims(shapes.begin(), shapes.end());
    const auto plan = session.PlanFor(dims);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan.ok() ? *plan : nullptr;
  }

  ir::IrContext context;
  ir::Program program{&context};
  ir::Builder builder{&program};
};

TEST_F(SessionTest, StartsNoMoreThreadsThanTheProcessHasCpusUnlessItIsToOversubscribe) {
  builder.Return({{"y", builder.AddInput("x", F32Type({2}))}});
  EXPECT_EQ(Load()->num_threads(), 1);
  const OneCpu pinned;
  EXPECT_EQ(Load({.threads = 2})->num_threads(), 1);
  EXPECT_EQ(Load({.threads = 2, .oversubscribe = true})->num_threads(), 2);
}

TEST_F(SessionTest, RunsOnTheInstructionSetThatItIsGiven) {
  const ir::Value x = builder.AddInput("x", F32Type({256, 256}));
  builder.Return({{"y", builder.Make<ir::ops::MatMul>({x, x})}});
  const Tensor input = Random({256, 256}, 1);
  const auto run = [&](Session& session) {
    const auto y = session.Run({input.view()});
    EXPECT_TRUE(y.ok()) << y.status();
    const auto values = y->front().view().values<const float>();
    return F(values.begin(), values.end());
  };
  std::map<std::string, F> results;
  for (const Isa isa : SupportedIsas()) {
    const std::string name(IsaName(isa));
    const auto session = Load({.isa = name});
    results[name] = run(*session);
    const ScopedIsa other(Isa::kPortable);  // which is not what its plans were made for
    EXPECT_EQ(run(*session), results[name]) << name;
  }
  EXPECT_EQ(run(*Load({})), results[std::string(IsaName(SupportedIsas().back()))]);
  if (results.contains("amx")) {
    EXPECT_NE(results["amx"], results["avx512"]);
  }
  if (results.contains("avx512")) {
    EXPECT_NE(results["avx512"], results["portable"]);
  }
  const auto unknown = Session::Create(program, {.isa = "sse9"});
  EXPECT_THAT(unknown.status().message(), HasSubstr("'sse9': this machine has portable"));
}

TEST_F(SessionTest, MultipliesWithThePrecisionThatItIsGiven) {
  const ir::Value x = builder.AddInput("x", F32Type({256, 256}));
  builder.Return({{"y", builder.Make<ir::ops::MatMul>({x, x})}});
  const Tensor input = Random({256, 256}, 1);
  const auto run = [&](Isa isa, MatmulPrecision precision) {
    std::unique_ptr<Session> session, fork;
    {
      const ScopedIsa scope(isa);
      session = Load({.threads = 2, .matmul_precision = precision, .oversubscribe = true});
    }
    F results[2];
    auto forked = session->Fork();
    EXPECT_TRUE(forked.ok());
    fork = *std::move(forked);
    for (const bool is_fork : {false, true}) {
      const auto y = (is_fork ? fork : session)->Run({input.view()});
      EXPECT_TRUE(y.ok()) << y.status();
      const auto values = y->front().view().values<const float>();
      results[is_fork].assign(values.begin(), values.end());
    }
    EXPECT_EQ(results[0], results[1]);
    return results[0];
  };
  const F precise = run(Isa::kEmulatedAmx, MatmulPrecision::kFloat32);
  const auto error = [&](MatmulPrecision precision) {
    const F y = run(Isa::kEmulatedAmx, precision);
    double worst = 0;
    for (size_t i = 0; i < y.size(); ++i) worst = std::fmax(worst, std::fabs(y[i] - precise[i]));
    return worst;
  };
  EXPECT_GT(error(MatmulPrecision::kBf16), 64 * error(MatmulPrecision::kBf16x2));
  EXPECT_GT(error(MatmulPrecision::kBf16x2), 0);
  EXPECT_EQ(run(Isa::kPortable, MatmulPrecision::kBf16),
            run(Isa::kPortable, MatmulPrecision::kFloat32));
}

TEST_F(SessionTest, ChecksSizesThatFollowFromOthers) {
  const int64_t n = ir::SymbolicDim("n"), twice = ir::SymbolicDim("2*n");
  const ir::Value x = builder.AddInput("x", F32Type({n})),
                  y = builder.AddInput("y", F32Type({twice}));
  builder.Return({{"z", builder.Make<ir::ops::Concat>({x, y}, {.axis = 0})}});
  const auto session = Load();
  EXPECT_EQ(session->outputs()[0].type, F32Type({ir::SymbolicDim("3*n")}));
  EXPECT_NE(PlanOf(*session, {{2}, {4}}), nullptr);
  const std::vector<ir::Shape> shapes = {{2}, {5}};
  const std::vector<std::span<const int64_t>> dims(shapes.begin(), shapes.end());
  EXPECT_THAT(std::string(session->PlanFor(dims).status().message()),
              HasSubstr("input 'y' has shape [5], but 2*n is 4, not 5"));
  // The one that says what n is may come later, or be the expression.
  const std::vector<ir::Shape> odd = {{2}, {3}};
  const std::vector<std::span<const int64_t>> odd_dims(odd.begin(), odd.end());
  EXPECT_THAT(std::string(session->PlanFor(odd_dims).status().message()), HasSubstr("2*n"));
}

TEST_F(SessionTest, RunsAProgramAndNamesItsPorts) {
  const ir::Value x = builder.AddInput("x", F32Type({2}));
  const ir::Value y = builder.AddInput("y", F32Type({2}));
  builder.Return({{"sum", Make<ops::Add>({x, y}, {2})}, {"product", Make<ops::Mul>({x, y}, {2})}});
  const auto session = Load();
  EXPECT_EQ(session->inputs()[1].name, "y");
  EXPECT_EQ(session->outputs()[1].name, "product");
  const auto results = session->Run({F32({2}, {1, 2}).view(), F32({2}, {3, 4}).view()});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(ValuesOf<float>((*results)[0]), (F{4, 6}));
  EXPECT_EQ(ValuesOf<float>((*results)[1]), (F{3, 8}));
}

TEST_F(SessionTest, ReturnsInputsConstantsAndOneValueTwice) {
  const ir::Value x = builder.AddInput("x", F32Type({2}));
  const ir::Value c = builder.ConstantFloats(F{5, 6}, ir::Shape{2});
  const ir::Value y = Make<ops::Neg>({x}, {2});
  const ir::Value view = Make<ops::Identity>({y}, {2});
  builder.Return({{"x", x}, {"c", c}, {"y", y}, {"view", view}, {"again", y}});
  const auto results = Load()->Run({F32({2}, {1, 2}).view()});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(ValuesOf<float>((*results)[0]), (F{1, 2}));
  EXPECT_EQ(ValuesOf<float>((*results)[1]), (F{5, 6}));
  for (int i : {2, 3, 4}) EXPECT_EQ(ValuesOf<float>((*results)[i]), (F{-1, -2})) << i;
}

TEST_F(SessionTest, PlansAnewForOtherShapesAndKeepsPlans) {
  const int64_t n = ir::SymbolicDim("n");
  const ir::Value x = builder.AddInput("x", F32Type({n, 2}));
  builder.Return({{"y", Make<ops::Relu>({x}, {n, 2})}});
  const auto session = Load();
  for (const int64_t rows : {1, 3, 1}) {
    const auto results = session->Run({Random({rows, 2}, 5).view()});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ((*results)[0].dims(), (ir::Shape{rows, 2}));
  }
  Plan* const one = PlanOf(*session, {{1, 2}});
  EXPECT_NE(one, PlanOf(*session, {{3, 2}}));
  EXPECT_EQ(one, PlanOf(*session, {{1, 2}}));
}

TEST_F(SessionTest, FoldsShapesOnceTheyAreKnown) {
  // y = reshape(x, concat(shape(x)[0], -1)): static only when n is.
  const int64_t n = ir::SymbolicDim("n");
  const ir::Value x = builder.AddInput("x", F32Type({n, 2, 3}));
  const ir::Value shape = builder.Make<ops::Shape>({x}, {.end = 1, .start = 0});
  const ir::Value target =
      builder.Make<ops::Concat>({shape, builder.ConstantInts({-1})}, {.axis = 0});
  builder.Return({{"y", builder.Make<ops::Neg>({builder.Make<ops::Reshape>({x, target})})}});
  const auto session = Load();
  const auto results = session->Run({Random({4, 2, 3}, 1).view()});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].dims(), (ir::Shape{4, 6}));
  EXPECT_EQ(PlanOf(*session, {{4, 2, 3}})->steps().size(), 1u);
}

TEST_F(SessionTest, SaysWhichInputDoesNotFit) {
  const int64_t n = ir::SymbolicDim("n");
  const ir::Value x = builder.AddInput("x", F32Type({n, 2}));
  const ir::Value y = builder.AddInput("y", F32Type({n, 1}));
  builder.Return({{"z", Make<ops::Add>({x, y}, {n, 2})}});
  const auto session = Load();
  const auto message = [&](std::vector<TensorView> inputs) {
    const auto results = session->Run(inputs);
    EXPECT_EQ(results.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(results.status().message());
  };
  const Tensor fits = Random({3, 2}, 1), other = Random({4, 1}, 1), flat = Random({3}, 1);
  const Tensor ints = I64({3, 1}, {1, 2, 3}), column = Random({3, 1}, 1);
  EXPECT_EQ(message({fits.view()}), "expected 2 inputs, got 1");
  EXPECT_EQ(message({fits.view(), other.view()}), "input 'y' has shape [4,1], but n is 3, not 4");
  EXPECT_EQ(message({fits.view(), flat.view()}), "input 'y' has shape [3], expected [\"n\",1]");
  EXPECT_EQ(message({fits.view(), ints.view()}), "input 'y' is i64[3,1], expected f32[3,1]");
  EXPECT_EQ(message({column.view(), column.view()}),
            "input 'x' has shape [3,1], expected [\"n\",2]");
}

TEST_F(SessionTest, NamesTheOpThatCannotRun) {
  const ir::Value x = builder.AddInput("x", F32Type({2}));
  const ir::Value y = builder
                          .Create(ir::OperationState{.opcode = ir::Opcode::FindOrAdd("my.Thing"),
                                                     .operands = {x},
                                                     .result_types = {F32Type({2})},
                                                     .location = ir::Name("node_7")})
                          .result();
  builder.Return({{"y", y}});
  const auto results = Load()->Run({Random({2}, 1).view()});
  EXPECT_EQ(results.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(results.status().message()), HasSubstr("my.Thing"));
  EXPECT_THAT(std::string(results.status().message()), HasSubstr("node_7"));
}

TEST_F(SessionTest, RefusesOpsWithRegions) {
  const ir::Value x = builder.AddInput("x", F32Type({2}));
  const ir::Value y = builder
                          .Create(ir::OperationState{.opcode = ir::Opcode::FindOrAdd("custom.If"),
                                                     .operands = {x},
                                                     .result_types = {F32Type({2})},
                                                     .num_regions = 2})
                          .result();
  builder.Return({{"y", y}});
  const auto results = Load()->Run({Random({2}, 1).view()});
  EXPECT_EQ(results.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(results.status().message(), "custom.If: ops with nested regions cannot run");
}

TEST_F(SessionTest, RefusesAnUnknownProvider) {
  builder.Return({});
  EXPECT_EQ(Session::Create(program, {.provider = "gpu"}).status().message(),
            "unknown provider 'gpu', expected one of auto, native, xnnpack, reference");
}

TEST_F(SessionTest, TakesTensorsWithoutElements) {
  const ir::Value x = builder.AddInput("x", F32Type({0, 3}));
  builder.Return({{"y", Make<ops::Exp>({x}, {0, 3})}});
  for (const char* provider : {"auto", "reference"}) {
    const auto results = Load({.provider = provider})->Run({Tensor(DataType::kF32, {0, 3}).view()});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ((*results)[0].dims(), (ir::Shape{0, 3}));
  }
}

TEST_F(SessionTest, PoolsWithAWindowLargerThanTheInputGiveNothing) {
  const ir::Value x = builder.AddInput("x", F32Type({1, 2, 2, 5}));
  const ir::Value nhwc = builder.AddInput("nhwc", F32Type({1, 2, 5, 2}));
  builder.Return(
      {{"a", builder.Make<ops::MaxPool>({x}, {.kernel_shape = {3, 3}})},
       {"b", builder.Make<ops::AveragePool>({x}, {.kernel_shape = {3, 3}})},
       {"c", builder.Make<fused::MaxPool2d>({nhwc}, {.kernel_shape = {3, 3}})},
       {"d", builder.Make<fused::AveragePool2d>({nhwc}, {.kernel_shape = {3, 3}})},
       {"partly", builder.Make<ops::AveragePool>(
                      {x}, {.ceil_mode = 1, .kernel_shape = {3, 5}, .strides = {2, 1}})}});
  const Tensor image =
      F32({1, 2, 2, 5}, F{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 5, 5, 5, 5, 5, 7, 7, 7, 7, 7});
  for (const char* provider : {"reference", "auto", "xnnpack"}) {
    SCOPED_TRACE(provider);
    const auto results =
        Load({.provider = provider})->Run({image.view(), F32({1, 2, 5, 2}, F(20)).view()});
    ASSERT_TRUE(results.ok()) << results.status();
    for (const size_t i : {0, 1}) EXPECT_EQ((*results)[i].dims(), (ir::Shape{1, 2, 0, 3}));
    for (const size_t i : {2, 3}) EXPECT_EQ((*results)[i].dims(), (ir::Shape{1, 0, 3, 2}));
    EXPECT_EQ(ValuesOf<float>((*results)[4]), (F{4.5f, 6}));
  }
}

TEST_F(SessionTest, MeasuresEveryStepWhenAsked) {
  const ir::Value x = builder.AddInput("x", F32Type({1 << 16}));
  builder.Return({{"y", Make<ops::Exp>({x}, {1 << 16})}});
  const auto session = Load({.provider = "reference", .profile = true});
  ASSERT_TRUE(session->Run({Random({1 << 16}, 1).view()}).ok());
  const Plan* plan = PlanOf(*session, {{1 << 16}});
  EXPECT_EQ(plan->runs(), 1);
  EXPECT_EQ(plan->steps()[0].op, "onnx.Exp");
  EXPECT_EQ(plan->steps()[0].provider, "reference");
  EXPECT_GT(plan->steps()[0].nanoseconds, 10000);
}

// --- memory ---------------------------------------------------------------------

// Every address range that is written or read by a step, against every other that must hold its
// contents at that time.
void ExpectNoLiveBuffersOverlap(const Plan& plan) {
  const auto buffers = plan.arena_buffers();
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_LE(buffers[i].offset + buffers[i].lifetime.bytes, plan.arena_bytes());
    for (size_t j = 0; j < i; ++j) {
      const ArenaBuffer &a = buffers[i], &b = buffers[j];
      const bool together =
          a.lifetime.first <= b.lifetime.last && b.lifetime.first <= a.lifetime.last;
      EXPECT_FALSE(together && a.offset < b.offset + b.lifetime.bytes &&
                   b.offset < a.offset + a.lifetime.bytes)
          << "buffers " << i << " and " << j;
    }
  }
}

// A chain that could keep everything: it must need two buffers only.
TEST_F(SessionTest, ReusesTheArena) {
  ir::Value x = builder.AddInput("x", F32Type({256}));
  for (int i = 0; i < 20; ++i) x = Make<ops::Tanh>({x}, {256});
  builder.Return({{"y", x}});
  const auto session = Load();
  const Plan* plan = PlanOf(*session, {{256}});
  EXPECT_EQ(plan->arena_bytes(), 2 * 1024u);
  ExpectNoLiveBuffersOverlap(*plan);
}

// In place the same chain needs no memory but its output's; behind it, one buffer.
TEST_F(SessionTest, RunsAChainInTheMemoryOfItsOutput) {
  ir::Value x = builder.AddInput("x", F32Type({256}));
  for (int i = 0; i < 20; ++i) x = Make<ops::Tanh>({x}, {256});
  builder.Return({{"y", x}});
  const auto session = Load({.provider = "auto"});
  const Plan* plan = PlanOf(*session, {{256}});
  EXPECT_EQ(plan->arena_bytes(), 0u);
  const Tensor in = Random({256}, 1);
  const auto actual = session->Run({in.view()}), expected = Load()->Run({in.view()});
  ASSERT_TRUE(actual.ok() && expected.ok());
  EXPECT_LE(RelativeDifference((*actual)[0].view(), (*expected)[0].view()), 5e-6);
}

// Each value has a reader after the op that could have written over it.
TEST_F(SessionTest, KeepsWhatIsReadLater) {
  const ir::Value x = builder.AddInput("x", F32Type({256}));
  const ir::Value a = Make<ops::Tanh>({x}, {256}), b = Make<ops::Sigmoid>({a}, {256}),
                  c = Make<ops::Exp>({a}, {256});
  builder.Return(
      {{"y", Make<ops::Concat>({Make<ops::Sub>({b, c}, {256}), a, b}, {768}, {.axis = 0})}});
  const auto session = Load({.provider = "auto"});
  const Plan* plan = PlanOf(*session, {{256}});
  EXPECT_EQ(plan->arena_bytes(), 1024u);  // c; the others are parts of the output
  ExpectNoLiveBuffersOverlap(*plan);
  const Tensor in = Random({256}, 1);
  const auto actual = session->Run({in.view()}), expected = Load()->Run({in.view()});
  ASSERT_TRUE(actual.ok() && expected.ok());
  EXPECT_LE(RelativeDifference((*actual)[0].view(), (*expected)[0].view()), 5e-6);
}

// XNNPACK reads behind the end of its inputs, which a caller's memory must not be read at: the chain
// stays in the arena, in one buffer, up to the op that writes the output.
TEST_F(SessionTest, DoesNotPutWhatIsReadPastItsEndIntoAnOutput) {
  ir::Value x = builder.AddInput("x", F32Type({256}));
  for (int i = 0; i < 4; ++i) x = Make<ops::Sigmoid>({x}, {256});
  builder.Return({{"y", x}});
  const auto session = Load({.provider = "xnnpack"});
  const Plan* plan = PlanOf(*session, {{256}});
  EXPECT_EQ(plan->steps()[0].provider, "xnnpack");
  EXPECT_EQ(plan->arena_bytes(), 2 * 1024u);  // the input, copied, and the chain
  ExpectNoLiveBuffersOverlap(*plan);
}

class RandomGraphTest : public SessionTest, public testing::WithParamInterface<int> {
 protected:
  // Adds one op on random values made before; reshapes and transposes keep the element count.
  void Grow(std::vector<ir::Value>& values) {
    const auto pick = [&] { return values[random() % values.size()]; };
    const ir::Value x = pick();
    const ir::Shape dims = x.type().shape();
    const ir::Shape swapped = {dims[1], dims[0]};
    ir::Value y = pick();
    if (y.type() != x.type()) y = x;
    const auto target = [&](int64_t a, int64_t b) { return builder.ConstantInts({a, b}); };
    switch (random() % 9) {
      case 0:
        return values.push_back(Make<ops::Add>({x, y}, dims));
      case 1:
        return values.push_back(Make<ops::Mul>({x, y}, dims));
      case 2:
        return values.push_back(Make<ops::Sub>({y, x}, dims));
      case 3:
        return values.push_back(Make<ops::Tanh>({x}, dims));
      case 4:
        return values.push_back(Make<ops::Sigmoid>({x}, dims));
      case 5:
        return values.push_back(Make<ops::Transpose>({x}, swapped, {.perm = ir::Ints{1, 0}}));
      case 6:
        return values.push_back(Make<ops::Reshape>({x, target(dims[1], dims[0])}, swapped));
      case 7:
        return values.push_back(Make<ops::Softmax>({x}, dims));
      default:
        return values.push_back(Make<ops::Add>({x, weights[random() % 2]}, dims));
    }
  }

  std::mt19937 random{static_cast<uint32_t>(GetParam())};
  std::vector<ir::Value> weights;
};

TEST_P(RandomGraphTest, AgreesWithTheReferenceAndNeverOverlapsLiveBuffers) {
  weights = {builder.ConstantFloats(F{0.25}, ir::Shape{1}),
             builder.ConstantFloats(F{-0.5}, ir::Shape{1, 1})};
  std::vector<ir::Value> values = {builder.AddInput("a", F32Type({12, 20})),
                                   builder.AddInput("b", F32Type({12, 20})),
                                   builder.AddInput("c", F32Type({20, 12}))};
  for (int i = 0; i < 40; ++i) Grow(values);
  std::vector<std::pair<std::string, ir::Value>> outputs;
  for (size_t i = 0; i < values.size(); i += 6)
    outputs.emplace_back("y" + std::to_string(i), values[i]);
  outputs.emplace_back("last", values.back());
  builder.Return(outputs);

  const auto oracle = Load();
  const auto inputs = RandomInputs(oracle->inputs(), 3);
  std::vector<TensorView> views;
  for (const Tensor& input : *inputs) views.push_back(input.view());
  const auto expected = oracle->Run(views);
  ASSERT_TRUE(expected.ok()) << expected.status();
  for (const auto& [threads, provider] :
       {std::pair(1, "auto"), std::pair(2, "auto"), std::pair(2, "xnnpack")}) {
    const auto session = Load({.threads = threads, .provider = provider, .oversubscribe = true});
    for (int run = 0; run < 2; ++run) {  // a second run finds the first one's memory
      const auto actual = session->Run(views);
      ASSERT_TRUE(actual.ok()) << actual.status();
      for (size_t i = 0; i < actual->size(); ++i)
        EXPECT_LE(RelativeDifference((*actual)[i].view(), (*expected)[i].view()), 5e-6) << i;
    }
    ExpectNoLiveBuffersOverlap(*PlanOf(*session, {{12, 20}, {12, 20}, {20, 12}}));
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraphTest, testing::Range(1, 21));

}  // namespace
}  // namespace weft::kernels
