#include "kernels/runtime/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "ir/dialects/builtin.h"
#include "unittests/kernels/one_cpu.h"
#include "unittests/kernels/run_op.h"
#include "unittests/kernels/runtime/session_fixture.h"

namespace weft::kernels {
namespace {

using Floats = std::vector<float>;
using testing::HasSubstr;

class SessionTest : public SessionFixture {
 protected:
  ir::Type F32Type(ir::Shape dims) { return F(dims); }
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
    return Floats(values.begin(), values.end());
  };
  std::map<std::string, Floats> results;
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
    Floats results[2];
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
  const Floats precise = run(Isa::kEmulatedAmx, MatmulPrecision::kFloat32);
  const auto error = [&](MatmulPrecision precision) {
    const Floats y = run(Isa::kEmulatedAmx, precision);
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
  EXPECT_EQ(ValuesOf<float>((*results)[0]), (Floats{4, 6}));
  EXPECT_EQ(ValuesOf<float>((*results)[1]), (Floats{3, 8}));
}

TEST_F(SessionTest, ReturnsInputsConstantsAndOneValueTwice) {
  const ir::Value x = builder.AddInput("x", F32Type({2}));
  const ir::Value c = builder.ConstantFloats(Floats{5, 6}, ir::Shape{2});
  const ir::Value y = Make<ops::Neg>({x}, {2});
  const ir::Value view = Make<ops::Identity>({y}, {2});
  builder.Return({{"x", x}, {"c", c}, {"y", y}, {"view", view}, {"again", y}});
  const auto results = Load()->Run({F32({2}, {1, 2}).view()});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(ValuesOf<float>((*results)[0]), (Floats{1, 2}));
  EXPECT_EQ(ValuesOf<float>((*results)[1]), (Floats{5, 6}));
  for (int i : {2, 3, 4}) EXPECT_EQ(ValuesOf<float>((*results)[i]), (Floats{-1, -2})) << i;
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
      F32({1, 2, 2, 5}, Floats{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 5, 5, 5, 5, 5, 7, 7, 7, 7, 7});
  for (const char* provider : {"reference", "auto", "xnnpack"}) {
    SCOPED_TRACE(provider);
    const auto results =
        Load({.provider = provider})->Run({image.view(), F32({1, 2, 5, 2}, Floats(20)).view()});
    ASSERT_TRUE(results.ok()) << results.status();
    for (const size_t i : {0, 1}) EXPECT_EQ((*results)[i].dims(), (ir::Shape{1, 2, 0, 3}));
    for (const size_t i : {2, 3}) EXPECT_EQ((*results)[i].dims(), (ir::Shape{1, 0, 3, 2}));
    EXPECT_EQ(ValuesOf<float>((*results)[4]), (Floats{4.5f, 6}));
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

}  // namespace
}  // namespace weft::kernels
