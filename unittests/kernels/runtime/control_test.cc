// If, Loop and Scan at run time.
#include "ir/dialects/onnx/control.h"

#include <gmock/gmock.h>

#include "unittests/ir/region_builder.h"
#include "unittests/kernels/run_op.h"
#include "unittests/kernels/runtime/session_fixture.h"

namespace weft::kernels {
namespace {

using ir::AddBlock;
using ir::AtEndOf;
using ir::Block;
using ir::MakeWithRegions;
using ir::Operation;
using ir::ReturnFrom;
using ir::Type;
using ir::Value;

class ControlTest : public SessionFixture {
 protected:
  Type Any() { return context.UnrankedTensorType(DataType::kF32); }
  Value Trips() { return Input(Of(DataType::kI64, {})); }

  // Body of a loop: iteration, condition, and values of these types.
  Block Body(Operation loop, std::vector<Type> carried) {
    carried.insert(carried.begin(), {Of(DataType::kI64, {}), Of(DataType::kBool, {})});
    return AddBlock(loop, 0, carried);
  }

  // The outputs as text: shape and numbers of each.
  std::string Run(const std::vector<Value>& results, const std::vector<Tensor>& inputs) {
    const std::string error = MakeSession(results);
    return error.empty() ? Again(inputs) : error;
  }
  std::string Again(const std::vector<Tensor>& inputs) {
    std::vector<TensorView> views;
    for (const Tensor& input : inputs) views.push_back(input.view());
    auto tensors = session->Run(views);
    if (!tensors.ok()) return std::string(tensors.status().message());
    std::string text;
    for (const Tensor& y : *tensors) {
      text += (text.empty() ? "" : "; ") + ir::ToString(y.dims());
      for (int64_t i = 0; i < y.NumElements(); ++i)
        text += " " + std::to_string(y.dtype() == DataType::kI64 ? y.values<int64_t>()[i]
                                                                 : int64_t(y.values<float>()[i]));
    }
    return text;
  }
  // A run of a loop without an end, which carries what `next` makes.
  void ExpectStopped(Value (*next)(Block body)) {
    const Value go = Flag(), x = Input(F({}));
    const Operation op = MakeWithRegions<ops::Loop>(program, {Value(), go, x}, 1);
    const Block body = Body(op, {F({})});
    ReturnFrom(body, {body.argument(1), next(body)});
    ASSERT_EQ(MakeSession({op.result()}), "");
    int asked = 0;
    session->set_stop([&] { return ++asked == 100; });
    EXPECT_THAT(Again(Tensors(Bool(true), F32({}, {1}))), testing::HasSubstr("was stopped"));
    EXPECT_EQ(asked, 100);
  }
  template <class... T>
  static std::vector<Tensor> Tensors(T... tensors) {
    std::vector<Tensor> list;
    (list.push_back(std::move(tensors)), ...);
    return list;
  }
  static Tensor Long(int64_t value) {
    Tensor tensor(DataType::kI64, {});
    tensor.values<int64_t>()[0] = value;
    return tensor;
  }
  static Tensor Bool(bool value) {
    Tensor tensor(DataType::kBool, {});
    tensor.view().data[0] = std::byte{value};
    return tensor;
  }
};

TEST_F(ControlTest, RunsTheBranchThatTheConditionSays) {
  const Value cond = Flag(), x = Input(F({2})), y = Input(F({2}));
  const Operation op = MakeWithRegions<ops::If>(program, {cond}, 1);
  const Block then_branch = AddBlock(op, 0, {}), else_branch = AddBlock(op, 1, {});
  ReturnFrom(then_branch, {AtEndOf(then_branch).Make<ops::Add>({x, y})});
  ReturnFrom(else_branch, {AtEndOf(else_branch).Make<ops::Neg>({x})});
  EXPECT_EQ(Run({op.result()}, Tensors(Bool(true), F32({2}, {1, 2}), F32({2}, {10, 20}))),
            "[2] 11 22");
  EXPECT_EQ(Again(Tensors(Bool(false), F32({2}, {1, 2}), F32({2}, {10, 20}))), "[2] -1 -2");
}

TEST_F(ControlTest, BranchesMayGiveOtherShapes) {
  const Value cond = Flag(), x = Input(F({2})), y = Input(F({3}));
  const Operation op = MakeWithRegions<ops::If>(program, {cond}, 1);
  ReturnFrom(AddBlock(op, 0, {}), {x});
  ReturnFrom(AddBlock(op, 1, {}), {y});
  const Value out = builder.Make<ops::Neg>({op.result()});
  EXPECT_EQ(Run({out}, Tensors(Bool(true), F32({2}, {1, 2}), F32({3}, {3, 4, 5}))), "[2] -1 -2");
  EXPECT_EQ(Again(Tensors(Bool(false), F32({2}, {1, 2}), F32({3}, {3, 4, 5}))), "[3] -3 -4 -5");
}

TEST_F(ControlTest, ABranchThatDoesNotRunNeedsNoKernels) {
  const Value cond = Flag(), x = Input(F({2}));
  const Operation op = MakeWithRegions<ops::If>(program, {cond}, 1);
  ReturnFrom(AddBlock(op, 0, {}), {x});
  const Block other = AddBlock(op, 1, {});
  ReturnFrom(other,
             {AtEndOf(other)
                  .Builder::Create(ir::OperationState{.opcode = ir::Opcode::FindOrAdd("custom.Op"),
                                                      .operands = {x},
                                                      .result_types = {F({2})}})
                  .result()});
  EXPECT_EQ(Run({op.result()}, Tensors(Bool(true), F32({2}, {1, 2}))), "[2] 1 2");
  EXPECT_EQ(Again(Tensors(Bool(false), F32({2}, {1, 2}))), "custom.Op: no kernel runs this op");
}

TEST_F(ControlTest, LoopsAsOftenAsTheTripCountSays) {
  const Value trips = Trips(), x = Input(F({2})), step = Input(F({2}));
  const Operation op = MakeWithRegions<ops::Loop>(program, {trips, Value(), x}, 2);
  const Block body = Body(op, {F({2})});
  const Value next = AtEndOf(body).Make<ops::Add>({body.argument(2), step});
  ReturnFrom(body, {body.argument(1), next, body.argument(2)});
  const auto inputs = [](int64_t n) {
    return Tensors(Long(n), F32({2}, {1, 2}), F32({2}, {10, 100}));
  };
  EXPECT_EQ(Run({op.result(0), op.result(1)}, inputs(3)), "[2] 31 302; [3,2] 1 2 11 102 21 202");
  EXPECT_EQ(Again(inputs(1)), "[2] 11 102; [1,2] 1 2");
  EXPECT_EQ(Again(inputs(0)), "[2] 1 2; [0,2]");
  EXPECT_EQ(Again(inputs(INT64_MIN)), "[2] 1 2; [0,2]");
}

// while (x < limit) x = x + x
TEST_F(ControlTest, LoopsAsLongAsTheConditionHolds) {
  const Value go = Flag(), x = Input(F({})), limit = Input(F({}));
  const Operation op = MakeWithRegions<ops::Loop>(program, {Value(), go, x}, 1);
  const Block body = Body(op, {F({})});
  const Value next = AtEndOf(body).Make<ops::Add>({body.argument(2), body.argument(2)});
  ReturnFrom(body, {AtEndOf(body).Make<ops::Less>({next, limit}), next});
  EXPECT_EQ(Run({op.result()}, Tensors(Bool(true), F32({}, {3}), F32({}, {100}))), "[] 192");
  EXPECT_EQ(Again(Tensors(Bool(false), F32({}, {3}), F32({}, {100}))), "[] 3");
}

TEST_F(ControlTest, ALoopWithoutAConditionIgnoresWhatTheBodySaysOfIt) {
  const Value trips = Trips(), x = Input(F({}));
  const Operation op = MakeWithRegions<ops::Loop>(program, {trips, Value(), x}, 1);
  const Block body = Body(op, {F({})});
  const Value next = AtEndOf(body).Make<ops::Add>({body.argument(2), body.argument(2)});
  ReturnFrom(body, {AtEndOf(body).Make<ops::Less>({next, next}), next});
  EXPECT_EQ(Run({op.result()}, Tensors(Long(4), F32({}, {1}))), "[] 16");
}

TEST_F(ControlTest, ARunIsStoppedInALoop) {
  ExpectStopped([](Block body) { return AtEndOf(body).Make<ops::Neg>({body.argument(2)}); });
}
TEST_F(ControlTest, ARunIsStoppedInALoopWithoutOperations) {
  ExpectStopped([](Block body) { return body.argument(2); });
}

TEST_F(ControlTest, ALoopThatNeverEndsIsRefused) {
  const Value trips = Trips(), x = Input(F({}));
  const Operation op = MakeWithRegions<ops::Loop>(program, {trips, Value(), x}, 1);
  const Block body = Body(op, {F({})});
  ReturnFrom(body, {body.argument(1), AtEndOf(body).Make<ops::Neg>({body.argument(2)})});
  EXPECT_THAT(Run({op.result()}, Tensors(Long(INT64_MAX), F32({}, {1}))),
              testing::EndsWith("a loop of 9223372036854775807 iterations that no condition ends"));
  EXPECT_EQ(Again(Tensors(Long(3), F32({}, {1}))), "[] -1");
}

// The Fibonacci numbers: values that trade places, the iteration itself as a carried value.
TEST_F(ControlTest, CarriedValuesMayTradePlacesAndBeTheIteration) {
  const Value trips = Trips(), a = Input(F({})), b = Input(F({}));
  const Value count = Input(Of(DataType::kI64, {}));
  const Operation op = MakeWithRegions<ops::Loop>(program, {trips, Value(), a, b, count}, 4);
  const Block body = Body(op, {F({}), F({}), Of(DataType::kI64, {})});
  const Value sum = AtEndOf(body).Make<ops::Add>({body.argument(2), body.argument(3)});
  ReturnFrom(body, {body.argument(1), body.argument(3), sum, body.argument(0), body.argument(4)});
  EXPECT_EQ(Run({op.result(0), op.result(1), op.result(2), op.result(3)},
                Tensors(Long(6), F32({}, {0}), F32({}, {1}), Long(7))),
            "[] 8; [] 13; [] 5; [6] 7 0 1 2 3 4");
}

TEST_F(ControlTest, ACarriedValueMayGrow) {
  const Value trips = Trips(), x = Input(F({1})), more = Input(F({1}));
  const Operation op = MakeWithRegions<ops::Loop>(program, {trips, Value(), x}, 1);
  const Block body = Body(op, {Any()});
  const Value next = AtEndOf(body).Make<ops::Concat>({body.argument(2), more}, {.axis = 0});
  ReturnFrom(body, {body.argument(1), next});
  EXPECT_EQ(Run({op.result()}, Tensors(Long(12), F32({1}, {1}), F32({1}, {2}))),
            "[13] 1 2 2 2 2 2 2 2 2 2 2 2 2");
}

TEST_F(ControlTest, LoopsNestAndReadThroughTwoLevels) {
  const Value trips = Trips(), x = Input(F({2})), step = Input(F({2}));
  const Operation outer = MakeWithRegions<ops::Loop>(program, {trips, Value(), x}, 1);
  const Block body = Body(outer, {F({2})});
  ir::Rewriter in_body = AtEndOf(body);
  const Operation inner =
      in_body.Builder::Create(ir::OperationState{.opcode = ir::kOpcodeOf<ops::Loop>,
                                                 .operands = {trips, Value(), body.argument(2)},
                                                 .result_types = {F({2})},
                                                 .num_regions = 1});
  const Block inside = Body(inner, {F({2})});
  ReturnFrom(inside,
             {inside.argument(1), AtEndOf(inside).Make<ops::Add>({inside.argument(2), step})});
  ReturnFrom(body, {body.argument(1), inner.result()});
  EXPECT_EQ(Run({outer.result()}, Tensors(Long(3), F32({2}, {0, 1}), F32({2}, {1, 10}))),
            "[2] 9 91");
}

TEST_F(ControlTest, ALoopSaysWhichScanOutputChangesItsShape) {
  const Value trips = Trips(), x = Input(F({1}));
  const Operation op = MakeWithRegions<ops::Loop>(program, {trips, Value(), x}, 2);
  const Block body = Body(op, {Any()});
  const Value next =
      AtEndOf(body).Make<ops::Concat>({body.argument(2), body.argument(2)}, {.axis = 0});
  ReturnFrom(body, {body.argument(1), next, next});
  EXPECT_EQ(Run({op.result(1)}, Tensors(Long(3), F32({1}, {1}))),
            "a scan output has shape [2], and [4] in iteration 1");
}

class ScanTest : public ControlTest {
 protected:
  // Sums the rows, and gives the sums so far.
  std::string RunSums(const Tensor& rows, const ops::Scan::Attrs<ir::BuilderSlot>& attrs,
                      const ir::Shape& declared) {
    const Value start = Input(F({2})), x = Input(F(declared));
    const Operation op = MakeWithRegions<ops::Scan>(program, {start, x}, 2, attrs);
    const Block body = AddBlock(op, 0, {F({2}), F({2})});
    const Value sum = AtEndOf(body).Make<ops::Add>({body.argument(0), body.argument(1)});
    ReturnFrom(body, {sum, sum});
    std::vector<Tensor> inputs;
    inputs.push_back(F32({2}, {0, 0}));
    inputs.push_back(*Tensor::Create(DataType::kF32, rows.dims()));
    std::copy(rows.values<float>().begin(), rows.values<float>().end(),
              inputs.back().values<float>().begin());
    return Run({op.result(0), op.result(1)}, inputs);
  }
};

TEST_F(ScanTest, RunsOverTheRows) {
  EXPECT_EQ(RunSums(F32({3, 2}, {1, 2, 3, 4, 5, 6}), {.num_scan_inputs = 1}, {3, 2}),
            "[2] 9 12; [3,2] 1 2 4 6 9 12");
}

TEST_F(ScanTest, RunsOverRowsWhoseNumberIsNotKnownBefore) {
  EXPECT_EQ(
      RunSums(F32({3, 2}, {1, 2, 3, 4, 5, 6}), {.num_scan_inputs = 1}, {ir::SymbolicDim("N"), 2}),
      "[2] 9 12; [3,2] 1 2 4 6 9 12");
}

TEST_F(ScanTest, RunsOverNoRows) {
  EXPECT_EQ(RunSums(F32({0, 2}, {}), {.num_scan_inputs = 1}, {ir::SymbolicDim("N"), 2}),
            "[2] 0 0; [0,2]");
}

TEST_F(ScanTest, RunsBackwards) {
  EXPECT_EQ(RunSums(F32({3, 2}, {1, 2, 3, 4, 5, 6}),
                    {.num_scan_inputs = 1, .scan_input_directions = ir::Ints{1}}, {3, 2}),
            "[2] 9 12; [3,2] 5 6 8 10 9 12");
}

TEST_F(ScanTest, GivesBackwards) {
  EXPECT_EQ(RunSums(F32({3, 2}, {1, 2, 3, 4, 5, 6}),
                    {.num_scan_inputs = 1, .scan_output_directions = ir::Ints{1}}, {3, 2}),
            "[2] 9 12; [3,2] 9 12 4 6 1 2");
}

TEST_F(ScanTest, TakesAndGivesOtherAxes) {
  EXPECT_EQ(
      RunSums(
          F32({2, 3}, {1, 3, 5, 2, 4, 6}),
          {.num_scan_inputs = 1, .scan_input_axes = ir::Ints{1}, .scan_output_axes = ir::Ints{-1}},
          {2, 3}),
      "[2] 9 12; [2,3] 1 4 9 2 6 12");
}

}  // namespace
}  // namespace weft::kernels
