// Programs whose sizes follow from values that are met at run time.
#include "kernels/runtime/segments/segment.h"

#include <gmock/gmock.h>

#include <cmath>

#include "ir/dialects/onnx/creation.h"
#include "ir/dialects/onnx/indexing.h"
#include "ir/rewriter.h"
#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

using F = std::vector<float>;
using I = std::vector<int64_t>;
using testing::HasSubstr;

class SegmentTest : public testing::Test {
 protected:
  SegmentTest() { ir::LoadFusedDialect(context); }

  ir::Value Input(DataType dtype, const ir::Shape& dims) {
    return builder.AddInput("x" + std::to_string(inputs_++), context.TensorType(dtype, dims));
  }
  ir::Value Floats(const ir::Shape& dims) { return Input(DataType::kF32, dims); }
  ir::Value Ints(const ir::Shape& dims) { return Input(DataType::kI64, dims); }
  void Return(const std::vector<ir::Value>& values) {
    std::vector<std::pair<std::string, ir::Value>> outputs;
    for (const ir::Value v : values) outputs.emplace_back("y" + std::to_string(outputs.size()), v);
    builder.Return(std::move(outputs));
    auto created = Session::Create(program, {.provider = "auto"});
    ASSERT_TRUE(created.ok()) << created.status();
    session = *std::move(created);
  }
  // The first output's shape and numbers.
  std::string Run(const std::vector<Tensor>& inputs) {
    auto results = TryRun(inputs);
    if (!results.ok()) return std::string(results.status().message());
    const Tensor& y = results->front();
    std::string text = ir::ToString(y.dims());
    for (int64_t i = 0; i < y.NumElements(); ++i)
      text += " " + (y.dtype() == DataType::kI64 ? std::to_string(y.values<int64_t>()[i])
                                                 : std::to_string(int(y.values<float>()[i])));
    return text;
  }
  absl::StatusOr<std::vector<Tensor>> TryRun(const std::vector<Tensor>& inputs) {
    std::vector<TensorView> views;
    for (const Tensor& input : inputs) views.push_back(input.view());
    return session->Run(views);
  }
  template <class... T>
  std::string RunOn(T... tensors) {
    std::vector<Tensor> inputs;
    (inputs.push_back(std::move(tensors)), ...);
    return Run(inputs);
  }
  std::vector<const Plan*> LastPlans() const {
    std::vector<const Plan*> plans;
    for (const RunPart& part : session->last_run())
      if (part.plan) plans.push_back(part.plan);
    return plans;
  }

  ir::IrContext context;
  ir::Program program{&context};
  ir::Builder builder{&program};
  std::unique_ptr<Session> session;

 private:
  int inputs_ = 0;
};

// x * 10 where x is positive, as a column.
TEST_F(SegmentTest, RunsAChainFromNonZeroToReshape) {
  const ir::Value x = Floats({5});
  const ir::Value found = builder.Make<ops::NonZero>({builder.Make<ops::Relu>({x})});
  const ir::Value places = builder.Make<ops::Reshape>({found, builder.ConstantInts({-1})});
  const ir::Value tens = builder.Make<ops::Mul>({x, builder.ConstantScalar(DataType::kF32, 10)});
  const ir::Value taken = builder.Make<ops::Gather>({tens, places});
  Return({builder.Make<ops::Reshape>({taken, builder.ConstantInts({-1, 1})})});
  EXPECT_EQ(RunOn(F32({5}, {1, -2, 3, 0, 5})), "[3,1] 10 30 50");
  EXPECT_EQ(RunOn(F32({5}, {-1, -2, 3, 0, 0})), "[1,1] 30");
  EXPECT_EQ(RunOn(F32({5}, {-1, -2, -3, 0, 0})), "[0,1]");
  EXPECT_EQ(RunOn(F32({5}, {1, 2, 3, 4, 5})), "[5,1] 10 20 30 40 50");
}

TEST_F(SegmentTest, TimesOpsBetweenPlansToo) {
  const ir::Value x = Floats({3});
  const ir::Value kept = builder.Make<ops::Compress>(
      {x, builder.Make<ops::Greater>({x, builder.ConstantScalar(DataType::kF32, 0)})});
  Return({builder.Make<ops::Neg>({kept})});
  auto profiled = Session::Create(program, {.provider = "auto", .profile = true});
  ASSERT_TRUE(profiled.ok());
  session = *std::move(profiled);
  for (const int run : {1, 2}) {
    EXPECT_EQ(RunOn(F32({3}, {1, -2, 3})), "[2] -1 -3");
    std::vector<std::string> ran;
    for (const RunPart& part : session->last_run())
      for (const Step& step : part.steps()) {
        ran.push_back(step.op);
        EXPECT_EQ(step.runs, run) << step.op;
        EXPECT_GT(step.nanoseconds, 0) << step.op;
        EXPECT_FALSE(step.provider.empty()) << step.op;
      }
    EXPECT_EQ(ran, (std::vector<std::string>{"onnx.Greater", "onnx.Compress", "onnx.Neg"}));
  }
}

TEST_F(SegmentTest, RunsARangeWhoseEndsAreInputs) {
  const ir::Value limit = Ints({});
  const ir::Value one = builder.ConstantScalar(DataType::kI64, 1);
  const ir::Value range =
      builder.Make<ops::Range>({one, builder.Make<ops::Add>({limit, one}), one});
  Return({builder.Make<ops::Mul>({range, range})});
  EXPECT_EQ(RunOn(I64({}, {4})), "[4] 1 4 9 16");
  EXPECT_EQ(RunOn(I64({}, {2})), "[2] 1 4");
  EXPECT_EQ(RunOn(I64({}, {-7})), "[0]");
}

TEST_F(SegmentTest, PlansOncePerSetOfSizes) {
  const ir::Value x = Floats({4});
  const ir::Value kept = builder.Make<ops::Compress>(
      {x, builder.Make<ops::Greater>({x, builder.ConstantScalar(DataType::kF32, 0)})});
  Return({builder.Make<ops::Neg>({kept})});
  EXPECT_EQ(RunOn(F32({4}, {1, 0, 2, 0})), "[2] -1 -2");
  const std::vector<const Plan*> two = LastPlans();
  ASSERT_EQ(two.size(), 2u);  // the condition, and what is left
  EXPECT_EQ(RunOn(F32({4}, {1, 3, 2, 0})), "[3] -1 -3 -2");
  const std::vector<const Plan*> three = LastPlans();
  EXPECT_EQ(three[0], two[0]);
  EXPECT_NE(three[1], two[1]);
  EXPECT_EQ(RunOn(F32({4}, {0, 0, 8, 9})), "[2] -8 -9");
  EXPECT_EQ(LastPlans(), two);
  EXPECT_EQ(two[1]->runs(), 2);
  EXPECT_EQ(two[0]->runs(), 3);
}

TEST_F(SegmentTest, KeepsABoundedNumberOfPlans) {
  const ir::Value count = Ints({});
  const ir::Value one = builder.ConstantScalar(DataType::kI64, 1);
  const ir::Value range = builder.Make<ops::Range>({one, count, one});
  Return({builder.Make<ops::Neg>({range})});
  const auto size = [](int64_t i) { return I64({}, {i + 1}); };
  for (int64_t i = 1; i <= static_cast<int64_t>(Segment::MaxNext(0)); ++i) RunOn(size(i));
  RunOn(size(1));
  const Plan* const first = LastPlans().back();
  EXPECT_EQ(first->runs(), 2);
  RunOn(size(100));  // the one that was used longest ago, 2, goes
  RunOn(size(1));
  EXPECT_EQ(first->runs(), 3);
  RunOn(size(2));
  EXPECT_EQ(LastPlans().back()->runs(), 1);
}

TEST_F(SegmentTest, ReturnsValuesOfAllSegmentsAndInputs) {
  const ir::Value x = Floats({3}), unused = Floats({2});
  const ir::Value twice = builder.Make<ops::Add>({x, x});
  const ir::Value unique = builder.Make<ops::Unique>({twice});
  const ir::Value c = builder.ConstantFloats(F{7}, ir::Shape{1});
  Return({builder.Make<ops::Neg>({unique}), unique, twice, x, unused, c});
  std::vector<Tensor> inputs;
  inputs.push_back(F32({3}, {2, 1, 2}));
  inputs.push_back(F32({2}, {5, 6}));
  const auto results = TryRun(inputs);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(ValuesOf<float>((*results)[0]), (F{-2, -4}));
  EXPECT_EQ(ValuesOf<float>((*results)[1]), (F{2, 4}));
  EXPECT_EQ(ValuesOf<float>((*results)[2]), (F{4, 2, 4}));
  EXPECT_EQ(ValuesOf<float>((*results)[3]), (F{2, 1, 2}));
  EXPECT_EQ(ValuesOf<float>((*results)[4]), (F{5, 6}));
  EXPECT_EQ(ValuesOf<float>((*results)[5]), F{7});
}

TEST_F(SegmentTest, WritesIntoMemoryOfTheRightSizeOnly) {
  const ir::Value x = Floats({3});
  Return({builder.Make<ops::Unique>({x})});
  const Tensor input = F32({3}, {2, 1, 2}), right(DataType::kF32, {2}), wrong(DataType::kF32, {3});
  const std::vector<TensorView> inputs = {input.view()};
  ASSERT_TRUE(session->Run(inputs, std::vector<TensorView>{right.view()}).ok());
  EXPECT_EQ(ValuesOf<float>(right), (F{1, 2}));
  EXPECT_EQ(session->Run(inputs, std::vector<TensorView>{wrong.view()}).message(),
            "output 'y0' is f32[3], expected f32[2]");
}

// --- operands that say sizes ---------------------------------------------------------------------

TEST_F(SegmentTest, LearnsTheShapeOfAReshape) {
  const ir::Value x = Floats({6}), shape = Ints({2});
  Return({builder.Make<ops::Relu>({builder.Make<ops::Reshape>({x, shape})})});
  EXPECT_EQ(RunOn(F32({6}, {1, 2, 3, 4, 5, 6}), I64({2}, {2, -1})), "[2,3] 1 2 3 4 5 6");
  const Plan* const plan = LastPlans().back();
  EXPECT_EQ(RunOn(F32({6}, {6, 5, 4, 3, 2, 1}), I64({2}, {3, 2})), "[3,2] 6 5 4 3 2 1");
  EXPECT_EQ(RunOn(F32({6}, {1, 1, 1, 1, 1, 1}), I64({2}, {2, -1})), "[2,3] 1 1 1 1 1 1");
  EXPECT_EQ(LastPlans().back(), plan);
}

TEST_F(SegmentTest, LearnsWhatASliceTakes) {
  const ir::Value x = Floats({5}), starts = Ints({1}), ends = Ints({1});
  Return({builder.Make<ops::Slice>({x, builder.Make<ops::Add>({starts, starts}), ends})});
  EXPECT_EQ(RunOn(F32({5}, {1, 2, 3, 4, 5}), I64({1}, {1}), I64({1}, {9})), "[3] 3 4 5");
  EXPECT_EQ(RunOn(F32({5}, {1, 2, 3, 4, 5}), I64({1}, {0}), I64({1}, {-4})), "[1] 1");
}

TEST_F(SegmentTest, LearnsTheSizesOfOtherOps) {
  const ir::Value n = Ints({1}), x = Floats({2, 1});
  const ir::Value tiled = builder.Make<ops::Tile>(
      {x, builder.Make<ops::Concat>({n, builder.ConstantInts({1})}, {.axis = 0})});
  const ir::Value expanded = builder.Make<ops::Expand>(
      {tiled, builder.Make<ops::Concat>({builder.ConstantInts({1}), n}, {.axis = 0})});
  const ir::Value zeros = builder.Make<ops::ConstantOfShape>({n});
  const ir::Operation top =
      builder.Create<ops::TopK>({builder.Make<ops::Add>({expanded, zeros}), n}, {.axis = 0}, 2);
  const ir::Value hot =
      builder.Make<ops::OneHot>({top.result(1), n, builder.ConstantFloats(F{0, 1}, ir::Shape{2})});
  Return({top.result(0), hot});
  EXPECT_EQ(RunOn(I64({1}, {2}), F32({2, 1}, {4, 7})), "[2,2] 7 7 7 7");
  EXPECT_EQ(RunOn(I64({1}, {1}), F32({2, 1}, {4, 7})), "[1,1] 7");
  EXPECT_EQ(RunOn(I64({1}, {3}), F32({2, 1}, {4, 7})), "[3,3] 7 7 7 7 7 7 7 7 7");
}

TEST_F(SegmentTest, RunsNonMaxSuppressionAndTakesTheBoxesThatItSelects) {
  const ir::Value boxes = Floats({1, 3, 4}), scores = Floats({1, 1, 3});
  const ir::Value selected = builder.Make<ops::NonMaxSuppression>(
      {boxes, scores, builder.ConstantInts({9}), builder.ConstantScalar(DataType::kF32, 0.4)});
  const ir::Value rows = builder.Make<ops::Squeeze>({boxes, builder.ConstantInts({0})});
  const ir::Value box =
      builder.Make<ops::Gather>({selected, builder.ConstantInts({2})}, {.axis = 1});
  Return({builder.Make<ops::GatherND>({rows, box})});
  const F of = {0, 0, 2, 3, 0, 1, 2, 4, 2, 8, 0, 6};
  EXPECT_EQ(RunOn(F32({1, 3, 4}, of), F32({1, 1, 3}, {0.5f, 0.9f, 0.7f})), "[2,4] 0 1 2 4 2 8 0 6");
  EXPECT_EQ(RunOn(F32({1, 3, 4}, F(12, 1)), F32({1, 1, 3}, {0.5f, 0.9f, 0.7f})),
            "[3,4] 1 1 1 1 1 1 1 1 1 1 1 1");
}

// --- mistakes ----------------------------------------------------------------------------------------

TEST_F(SegmentTest, RefusesSizesThatDoNotFit) {
  const ir::Value x = Floats({6}), shape = Ints({2});
  Return({builder.Make<ops::Reshape>({x, shape})});
  const auto reshape = [this](I target) { return RunOn(F32({6}, F(6, 1)), I64({2}, target)); };
  EXPECT_EQ(reshape({2, 2}), "onnx.Reshape: [6] does not fit shape [2,2]");
  EXPECT_EQ(reshape({-1, -1}), "onnx.Reshape: shape [-1,-1] has more than one -1");
  EXPECT_EQ(reshape({2, 3}), "[2,3] 1 1 1 1 1 1");
}

TEST_F(SegmentTest, RefusesGiantSizesBeforeItAsksForMemory) {
  const ir::Value shape = Ints({2});
  Return({builder.Make<ops::Relu>({builder.Make<ops::ConstantOfShape>({shape})})});
  const auto fill = [this](I dims) { return RunOn(I64({2}, dims)); };
  EXPECT_EQ(fill({1 << 20, 1 << 20}),
            "onnx.ConstantOfShape: a result of type tensor<1048576x1048576xf32> would take more "
            "than 4 GiB");
  EXPECT_THAT(fill({INT64_MAX, INT64_MAX}), HasSubstr("onnx.ConstantOfShape: "));
  EXPECT_EQ(fill({2, -3}), "onnx.ConstantOfShape: shape has the entry -3");
  EXPECT_EQ(fill({1, 2}), "[1,2] 0 0");
}

TEST_F(SegmentTest, RefusesARangeThatIsTooLong) {
  const ir::Value limit = Ints({}), one = builder.ConstantScalar(DataType::kI64, 1);
  Return({builder.Make<ops::Range>({one, limit, one})});
  EXPECT_EQ(RunOn(I64({}, {INT64_MAX})),
            "onnx.Range: a result of shape [9223372036854775806] would take more than 4 GiB");
}

TEST_F(SegmentTest, RefusesResultsThatContradictWhatTheProgramSays) {
  const ir::Value x = Floats({3});
  const ir::Operation unique = builder.Create(
      ir::OperationState{.opcode = ir::kOpcodeOf<ops::Unique>,
                         .operands = {x},
                         .attrs = ir::MakeAttrs<ops::Unique>(context, {.axis = 0}),
                         .result_types = {context.TensorType(DataType::kF32, ir::Shape{2}),
                                          context.TensorType(DataType::kI64, {ir::kUnknownDim})}});
  Return({unique.result(0), unique.result(1)});
  EXPECT_EQ(RunOn(F32({3}, {2, 1, 2})), "[2] 1 2");
  EXPECT_EQ(RunOn(F32({3}, {2, 1, 3})),
            "result 0 is tensor<3xf32> but the program says tensor<2xf32>");
}

TEST_F(SegmentTest, RefusesAnOpWhoseSizesNoValueTells) {
  const ir::Value x = Floats({3});
  const ir::Operation op = builder.Create(
      ir::OperationState{.opcode = ir::Opcode::FindOrAdd("custom.Unknown"),
                         .operands = {builder.Make<ops::Unique>({x})},
                         .result_types = {context.UnrankedTensorType(DataType::kF32)}});
  Return({op.result()});
  const auto results = TryRun([] {
    std::vector<Tensor> inputs;
    inputs.push_back(F32({3}, {2, 1, 3}));
    return inputs;
  }());
  EXPECT_TRUE(absl::IsUnimplemented(results.status()));
  EXPECT_EQ(results.status().message(), "custom.Unknown: no kernel runs this op");
}

TEST_F(SegmentTest, KeepsWhatARegionReadsForTheSegmentThatHasIt) {
  const ir::Value x = Floats({3}), only_inside = Floats({3});
  const ir::Value twice = builder.Make<ops::Add>({x, x});
  const ir::Operation op =
      builder.Create(ir::OperationState{.opcode = ir::Opcode::FindOrAdd("custom.Region"),
                                        .operands = {builder.Make<ops::Unique>({x})},
                                        .result_types = {context.TensorType(DataType::kF32, {3})},
                                        .num_regions = 1});
  ir::Rewriter inside(&program);
  inside.SetInsertionPointToEnd(inside.AppendBlock(op.region(0)));
  inside.Make<ops::Neg>({inside.Make<ops::Mul>({twice, only_inside})});
  Return({op.result()});
  EXPECT_EQ(RunOn(F32({3}, {2, 1, 3}), F32({3}, {2, 1, 3})),
            "custom.Region: ops with nested regions cannot run");
}

TEST_F(SegmentTest, RefusesAChainOfTooManySegments) {
  ir::Value x = Floats({1});
  for (int i = 0; i < Segment::kMaxSegments + 1; ++i) x = builder.Make<ops::Unique>({x});
  Return({x});
  EXPECT_EQ(RunOn(F32({1}, {3})),
            "more than 1000 ops in a row wait for the values of others to know their sizes");
}

// --- one plan ------------------------------------------------------------------------------------------

TEST_F(SegmentTest, AProgramWhoseShapesAreKnownHasOnePlan) {
  const ir::Value x = Floats({ir::SymbolicDim("N"), 2});
  const ir::Value shape = builder.Make<ops::Shape>({x});
  const ir::Value zeros = builder.Make<ops::ConstantOfShape>({shape});
  const ir::Value range = builder.Make<ops::Range>({builder.ConstantScalar(DataType::kI64, 0),
                                                    builder.Make<ops::Size>({x}),
                                                    builder.ConstantScalar(DataType::kI64, 1)});
  const ir::Value places =
      builder.Make<ops::NonZero>({builder.ConstantFloats(F{0, 1, 1}, ir::Shape{3})});
  Return({builder.Make<ops::Add>({x, zeros}), range, places});
  std::vector<Tensor> inputs;
  inputs.push_back(F32({2, 2}, {1, 2, 3, 4}));
  const auto results = TryRun(inputs);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(ValuesOf<int64_t>((*results)[1]), (I{0, 1, 2, 3}));
  EXPECT_EQ(ValuesOf<int64_t>((*results)[2]), (I{1, 2}));
  const ir::Shape dims = {2, 2};
  const std::vector<std::span<const int64_t>> shapes = {dims};
  EXPECT_TRUE(*session->HasOnePlan(shapes));
  EXPECT_EQ(LastPlans(), std::vector<const Plan*>{*session->PlanFor(shapes)});
}

TEST_F(SegmentTest, APlanIsRefusedWhereThereAreSeveral) {
  const ir::Value x = Floats({3});
  Return({builder.Make<ops::Unique>({x})});
  const ir::Shape dims = {3};
  const std::vector<std::span<const int64_t>> shapes = {dims};
  EXPECT_FALSE(*session->HasOnePlan(shapes));
  EXPECT_EQ(session->PlanFor(shapes).status().message(),
            "no one plan runs a program whose sizes follow from values");
}

}  // namespace
}  // namespace weft::kernels
