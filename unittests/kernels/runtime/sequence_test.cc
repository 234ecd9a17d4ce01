// Sequences and optionals at run time.
#include "ir/dialects/onnx/sequence.h"

#include <gmock/gmock.h>

#include "ir/dialects/onnx/control.h"
#include "unittests/ir/region_builder.h"
#include "unittests/kernels/run_op.h"
#include "unittests/kernels/runtime/session_fixture.h"

namespace weft::kernels {
namespace {

using ir::Block;
using ir::Operation;
using ir::Type;
using ir::Value;
using testing::HasSubstr;
using Values = std::vector<RuntimeValue>;

std::string Text(const RuntimeValue& value) {
  if (value.IsSequence()) {
    std::string text;
    for (const auto& tensor : *value.sequence)
      text += (text.empty() ? "" : ", ") + Text(RuntimeValue::Of(tensor));
    return "(" + text + ")";
  }
  if (!value) return "nothing";
  std::string text = ir::ToString(value.view.dims);
  for (int64_t i = 0; i < value.view.NumElements(); ++i) {
    const auto at = static_cast<size_t>(i);
    text +=
        " " + std::to_string(value.view.dtype == DataType::kI64 ? value.view.values<int64_t>()[at]
                             : value.view.dtype == DataType::kBool
                                 ? int64_t(value.view.data[at])
                                 : int64_t(value.view.values<float>()[at]));
  }
  return text;
}

class Sequences : public SessionFixture {
 protected:
  Type AnyFloats() { return context.SequenceType(context.UnrankedTensorType(DataType::kF32)); }
  using SessionFixture::Input;
  Value Input(const ir::Shape& dims) { return Input(F(dims)); }
  Value Index() { return Input(Of(DataType::kI64, {})); }
  Value Construct(const std::vector<Value>& values) {
    return builder.Make<ops::SequenceConstruct>(values);
  }

  static RuntimeValue Floats(const ir::Shape& dims, const std::vector<float>& values) {
    return RuntimeValue::Of(F32(dims, values));
  }
  static RuntimeValue Row(const std::vector<float>& values) {
    return Floats({static_cast<int64_t>(values.size())}, values);
  }
  static RuntimeValue Long(int64_t value) { return RuntimeValue::Of(I64({}, {value})); }
  static RuntimeValue Bool(bool value) { return RuntimeValue::Of(kernels::Bool({}, {value})); }
  static RuntimeValue List(const Values& values) {
    Sequence::Elements elements;
    for (const RuntimeValue& value : values) elements.push_back(value.owner);
    return RuntimeValue::Of(Sequence(std::move(elements)));
  }

  // The outputs as text.
  std::string Run(const std::vector<Value>& results, const Values& inputs) {
    const std::string error = MakeSession(results);
    return error.empty() ? Again(inputs) : error;
  }
  std::string Again(const Values& inputs) {
    auto results = session->RunValues(inputs);
    if (!results.ok()) return std::string(results.status().message());
    std::string text;
    for (const RuntimeValue& y : *results) text += (text.empty() ? "" : "; ") + Text(y);
    return text;
  }
};

// --- one op ------------------------------------------------------------------------------

TEST_F(Sequences, AreConstructed) {
  EXPECT_EQ(Run({Construct({Input({2}), Input({1})})}, {Row({1, 2}), Row({3})}),
            "([2] 1 2, [1] 3)");
}

TEST_F(Sequences, DoNotKeepMemoryThatNobodyGaveAway) {
  const RuntimeValue x = Row({1, 2});
  EXPECT_EQ(Run({Construct({Input({2})})}, {x}), "([2] 1 2)");
  auto copied = session->RunValues(Values{{.view = x.view}});
  ASSERT_TRUE(copied.ok());
  x.view.values<float>()[0] = 7;
  EXPECT_EQ(Text((*copied)[0]), "([2] 1 2)");
}

TEST_F(Sequences, CanBeEmpty) {
  const Value empty = builder.Make<ops::SequenceEmpty>({});
  EXPECT_EQ(Run({empty, builder.Make<ops::SequenceLength>({empty})}, {}), "(); [] 0");
}

TEST_F(Sequences, TakeTensorsAtAPosition) {
  const Value s = Input(AnyFloats()), x = Input({1});
  const Value at_end = builder.Make<ops::SequenceInsert>({s, x});
  const Value at = builder.Make<ops::SequenceInsert>({s, x, Index()});
  const RuntimeValue list = List({Row({1}), Row({2})});
  EXPECT_EQ(Run({at_end, at}, {list, Row({9}), Long(1)}),
            "([1] 1, [1] 2, [1] 9); ([1] 1, [1] 9, [1] 2)");
  EXPECT_EQ(Again({list, Row({9}), Long(2)}), "([1] 1, [1] 2, [1] 9); ([1] 1, [1] 2, [1] 9)");
  EXPECT_EQ(Again({list, Row({9}), Long(-2)}), "([1] 1, [1] 2, [1] 9); ([1] 9, [1] 1, [1] 2)");
  EXPECT_EQ(Again({list, Row({9}), Long(3)}),
            "onnx.SequenceInsert: position 3 is outside of a sequence of 2");
  EXPECT_EQ(Again({list, Row({9}), Long(INT64_MIN)}),
            "onnx.SequenceInsert: position -9223372036854775808 is outside of a sequence of 2");
  EXPECT_EQ(Text(list), "([1] 1, [1] 2)");
}

TEST_F(Sequences, LoseTensors) {
  const Value s = Input(AnyFloats());
  const Value last = builder.Make<ops::SequenceErase>({s});
  const Value at = builder.Make<ops::SequenceErase>({s, Index()});
  EXPECT_EQ(Run({last, at}, {List({Row({1}), Row({2})}), Long(0)}), "([1] 1); ([1] 2)");
  EXPECT_EQ(Again({List({}), Long(0)}),
            "onnx.SequenceErase: an empty sequence has nothing to erase");
}

TEST_F(Sequences, GiveTensors) {
  const Value x = builder.Make<ops::SequenceAt>({Input(AnyFloats()), Index()});
  const Value y = builder.Make<ops::Add>({x, x});
  const RuntimeValue list = List({Row({1, 2}), Floats({1, 1}, {4})});
  EXPECT_EQ(Run({y, x}, {list, Long(0)}), "[2] 2 4; [2] 1 2");
  EXPECT_EQ(Again({list, Long(-1)}), "[1,1] 8; [1,1] 4");
  EXPECT_EQ(Again({list, Long(2)}), "onnx.SequenceAt: position 2 is outside of a sequence of 2");
  EXPECT_EQ(Again({list, Long(-3)}), "onnx.SequenceAt: position -3 is outside of a sequence of 2");
}

TEST_F(Sequences, HaveALengthThatSaysSizes) {
  const Value n = builder.Make<ops::SequenceLength>({Input(AnyFloats())});
  const Value shape = builder.Make<ops::Unsqueeze>({n, builder.ConstantInts({0})});
  EXPECT_EQ(
      Run({builder.Make<ops::Expand>({Input({1}), shape})}, {List({Row({1}), Row({2})}), Row({7})}),
      "[2] 7 7");
  EXPECT_EQ(Again({List({Row({1})}), Row({7})}), "[1] 7");
}

TEST_F(Sequences, AreSplitTensors) {
  const Value x = Input({2, 3}), split = Input(Of(DataType::kI64, {2})), size = Index();
  const Value by_list = builder.Make<ops::SplitToSequence>({x, split}, {.axis = 1});
  const Value by_size = builder.Make<ops::SplitToSequence>({x, size}, {.axis = -1});
  const Value by_one = builder.Make<ops::SplitToSequence>({x}, {.axis = 0, .keepdims = 0});
  const RuntimeValue data = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto sizes = [](int64_t a, int64_t b) { return RuntimeValue::Of(I64({2}, {a, b})); };
  EXPECT_EQ(Run({by_list, by_size, by_one}, {data, sizes(1, 2), Long(2)}),
            "([2,1] 1 4, [2,2] 2 3 5 6); ([2,2] 1 2 4 5, [2,1] 3 6); ([3] 1 2 3, [3] 4 5 6)");
  EXPECT_THAT(Again({data, sizes(0, 3), Long(INT64_MAX)}),
              HasSubstr("([2,0], [2,3] 1 2 3 4 5 6); ([2,3] 1 2 3 4 5 6)"));
  const std::string op = "onnx.SplitToSequence: ";
  EXPECT_EQ(Again({data, sizes(1, 1), Long(2)}), op + "split leaves 1 of 3");
  EXPECT_EQ(Again({data, sizes(4, -1), Long(2)}), op + "split has the entry 4 where 3 are left");
  EXPECT_EQ(Again({data, sizes(-1, 4), Long(2)}), op + "split has the entry -1 where 3 are left");
  EXPECT_EQ(Again({data, sizes(1, INT64_MAX), Long(2)}),
            op + "split has the entry 9223372036854775807 where 2 are left");
  EXPECT_EQ(Again({data, sizes(1, 2), Long(0)}), op + "split is 0, expected 1 or more");
  EXPECT_EQ(Again({data, sizes(1, 2), Long(-1)}), op + "split is -1, expected 1 or more");
}

TEST_F(Sequences, AreNotSplitIntoMorePartsThanMemoryHolds) {
  const Value x = Input({1 << 23, 0});
  EXPECT_EQ(Run({builder.Make<ops::SplitToSequence>({x})},
                {RuntimeValue::Of(*Tensor::Create(DataType::kF32, {1 << 23, 0}))}),
            "onnx.SplitToSequence: a sequence of 8388608 tensors, more than 4194304");
}

TEST_F(Sequences, AreJoined) {
  const Value s = Input(AnyFloats());
  const Value along = builder.Make<ops::ConcatFromSequence>({s}, {.axis = -1});
  const Value stacked = builder.Make<ops::ConcatFromSequence>({s}, {.axis = 2, .new_axis = 1});
  const RuntimeValue a = Floats({2, 1}, {1, 2}), b = Floats({2, 1}, {3, 4});
  EXPECT_EQ(Run({along, stacked}, {List({a, b})}), "[2,2] 1 3 2 4; [2,1,2] 1 3 2 4");
  const std::string op = "onnx.ConcatFromSequence: ";
  EXPECT_EQ(Again({List({})}), op + "an empty sequence has nothing to join");
  EXPECT_EQ(Again({List({a, Floats({1, 1}, {0})})}),
            op + "element 1 is [1,1] but element 0 is [2,1]");
  EXPECT_EQ(Again({List({a, Row({1, 2})})}), op + "element 1 is [2] but element 0 is [2,1]");
  EXPECT_EQ(Again({List({a, Floats({2, 1, 1}, {3, 4})})}),
            op + "element 1 is [2,1,1] but element 0 is [2,1]");
  EXPECT_EQ(Again({List({Row({1, 2})})}), op + "axis 2 is outside of a tensor of rank 2");
}

TEST_F(Sequences, AreNotJoinedBeyondMemory) {
  const Value s = Input(AnyFloats());
  const RuntimeValue large = RuntimeValue::Of(*Tensor::Create(DataType::kF32, {1 << 20}));
  const Sequence many(Sequence::Elements(1 << 20, large.owner));
  EXPECT_THAT(
      Run({builder.Make<ops::ConcatFromSequence>({s}, {.axis = 0})}, {RuntimeValue::Of(many)}),
      HasSubstr("a result of shape [1099511627776] would take more than 4 GiB"));
}

TEST_F(Sequences, OfAMillionElementsAreFine) {
  const Value s = Input(AnyFloats());
  const Value longer = builder.Make<ops::SequenceInsert>({s, Input({1})});
  const Value shorter = builder.Make<ops::SequenceErase>({longer, Index()});
  const Value y =
      builder.Make<ops::SequenceAt>({shorter, builder.ConstantScalar(DataType::kI64, -1)});
  const Sequence million(Sequence::Elements(1000000, Row({1}).owner));
  EXPECT_EQ(Run({builder.Make<ops::SequenceLength>({shorter}), y},
                {RuntimeValue::Of(million), Row({2}), Long(0)}),
            "[] 1000000; [1] 2");
}

TEST_F(Sequences, RefuseTensorsOfAnotherType) {
  // Nothing is known of the types before the run.
  const Type unknown = context.UnrankedTensorType(DataType::kNull);
  const Value at = builder.Make<ops::SequenceAt>({Input(AnyFloats()), Index()});
  Value maybe = builder
                    .Create(ir::OperationState{.opcode = ir::kOpcodeOf<ops::OptionalGetElement>,
                                               .operands = {Input(context.OptionalType(unknown))},
                                               .result_types = {unknown}})
                    .result();
  const Value y = builder.Make<ops::SequenceInsert>({Construct({at}), maybe});
  const RuntimeValue list = List({Row({1})});
  EXPECT_EQ(Run({y}, {list, Long(0), Row({2})}), "([1] 1, [1] 2)");
  EXPECT_THAT(Again({list, Long(0), Long(2)}), HasSubstr("SequenceInsert: "));
}

TEST_F(Sequences, StayWhatTheyAreWhenTheyGrow) {
  const Value s = Input(AnyFloats()), x = Input({1});
  const Value a = builder.Make<ops::SequenceInsert>({s, x});
  const Value b = builder.Make<ops::SequenceInsert>({a, x});
  const Value c = builder.Make<ops::SequenceInsert>({a, builder.Make<ops::Neg>({x})});
  EXPECT_EQ(Run({s, a, b, c}, {List({}), Row({1})}),
            "(); ([1] 1); ([1] 1, [1] 1); ([1] 1, [1] -1)");
  EXPECT_EQ(Again({List({Row({7})}), Row({1})}).substr(0, 8), "([1] 7);");
}

TEST_F(Sequences, GrowInConstantTime) {
  Sequence sequence;
  const RuntimeValue x = Row({1});
  for (int i = 0; i < 1000000; ++i) sequence = sequence.WithLast(x.owner);
  EXPECT_EQ(sequence.size(), 1000000u);
  EXPECT_EQ(sequence[999999], x.owner);
}

// --- optionals ---------------------------------------------------------------------------

TEST_F(Sequences, StandInOptionals) {
  const Value s = Input(context.OptionalType(AnyFloats()));
  const Value has = builder.Make<ops::OptionalHasElement>({s});
  const Value same = builder.Make<ops::Identity>({s});
  EXPECT_EQ(Run({has, same}, {List({Row({1})})}), "[] 1; ([1] 1)");
  EXPECT_EQ(Again({RuntimeValue()}), "[] 0; nothing");
  EXPECT_EQ(Again({}), "input 'x0' is not given");
}

TEST_F(Sequences, OptionalsGiveTheirElement) {
  const Value x = Input(context.OptionalType(F({-1})));
  const Value element = builder.Make<ops::OptionalGetElement>({x});
  EXPECT_EQ(Run({builder.Make<ops::Neg>({element}), x}, {Row({1, 2})}), "[2] -1 -2; [2] 1 2");
  EXPECT_EQ(Again({RuntimeValue()}), "onnx.OptionalGetElement: the optional has no element");
  EXPECT_EQ(Again({Long(1)}), "input 'x0' is i64[], expected optional<tensor<-1xf32>>");
}

TEST_F(Sequences, OptionalsAreMade) {
  const Value x = Input({2});
  const Value full = builder.Make<ops::OptionalOp>({x});
  const Value empty = builder.Make<ops::OptionalOp>({}, {.type = F({2})});
  EXPECT_EQ(
      Run({full, empty, builder.Make<ops::OptionalHasElement>({x}),
           builder.Make<ops::OptionalHasElement>({full}),
           builder.Make<ops::OptionalHasElement>({empty}),
           builder.Make<ops::OptionalHasElement>({}), builder.Make<ops::OptionalGetElement>({x})},
          {Row({1, 2})}),
      "[2] 1 2; nothing; [] 1; [] 1; [] 0; [] 0; [2] 1 2");
}

// --- sessions ----------------------------------------------------------------------------

TEST_F(Sequences, AsInputsAreChecked) {
  const Value s = Input(context.SequenceType(F({-1})));
  EXPECT_EQ(Run({s}, {List({Row({1}), Row({2, 3})})}), "([1] 1, [2] 2 3)");
  EXPECT_EQ(Again({Row({1})}), "input 'x0' is f32[1], expected seq<tensor<-1xf32>>");
  EXPECT_EQ(Again({List({Row({1}), Floats({1, 1}, {1})})}),
            "input 'x0', element 1 is f32[1,1], expected tensor<-1xf32>");
  EXPECT_EQ(Again({List({Long(1)})}), "input 'x0', element 0 is i64[], expected tensor<-1xf32>");
  EXPECT_EQ(Again({RuntimeValue::Of(Sequence({nullptr}))}), "input 'x0', element 0 is null");
  const Tensor tensor = F32({1}, {1});
  EXPECT_EQ(session->Run({tensor.view()}).status().message(),
            "input 'x0' is seq<tensor<-1xf32>>, which no tensor is");
}

TEST_F(Sequences, AsOutputsNeedRunValues) {
  EXPECT_EQ(Run({Construct({Input({1})})}, {Row({1})}), "([1] 1)");
  const Tensor tensor = F32({1}, {1});
  EXPECT_EQ(session->Run({tensor.view()}).status().message(),
            "output 'y0' is a sequence of 1, which no tensor is");
}

TEST_F(Sequences, OfSequencesCannotBeInputs) {
  const Value s = Input(context.SequenceType(AnyFloats()));
  EXPECT_EQ(Run({s}, {List({})}),
            "input 'x0' has type seq<seq<tensor<*xf32>>>, expected a tensor or a sequence of "
            "tensors");
}

TEST_F(Sequences, OpsThatNobodyRunsAreNamed) {
  const Value s = Input(AnyFloats());
  const Value y = builder
                      .Create(ir::OperationState{.opcode = ir::Opcode::FindOrAdd("custom.Sort"),
                                                 .operands = {s},
                                                 .result_types = {AnyFloats()}})
                      .result();
  EXPECT_EQ(Run({y}, {List({})}), "custom.Sort: no kernel runs this op on sequences or optionals");
}

TEST_F(Sequences, RunValuesTakesTensorsToo) {
  const Value x = Input({ir::SymbolicDim("n")});
  EXPECT_EQ(Run({builder.Make<ops::Neg>({x})}, {Row({1, 2})}), "[2] -1 -2");
  const ir::Shape shape{2};
  const std::span<const int64_t> dims[] = {shape};
  EXPECT_TRUE(*session->HasOnePlan(dims));
  EXPECT_EQ(Again({}), "input 'x0' is not given");
  EXPECT_EQ(Again({Row({1}), Row({1})}), "expected 1 inputs, got 2");
}

// --- regions -----------------------------------------------------------------------------

TEST_F(Sequences, ComeOutOfBranches) {
  const Value s = Input(AnyFloats()), x = Input({1});
  const Operation op = ir::MakeWithRegions<ops::If>(program, {Flag()}, 1);
  const Block a = ir::AddBlock(op, 0, {}), b = ir::AddBlock(op, 1, {});
  ir::ReturnFrom(a, {ir::AtEndOf(a).Make<ops::SequenceInsert>({s, x})});
  ir::ReturnFrom(b, {s});
  EXPECT_EQ(Run({op.result()}, {List({Row({1})}), Row({2}), Bool(true)}), "([1] 1, [1] 2)");
  EXPECT_EQ(Again({List({Row({1})}), Row({2}), Bool(false)}), "([1] 1)");
}

TEST_F(Sequences, GrowInLoops) {
  const Value trips = Index(), s = Input(AnyFloats()), x = Input({-1});
  const Operation loop = ir::MakeWithRegions<ops::Loop>(program, {trips, Value(), s}, 1);
  const Block body =
      ir::AddBlock(loop, 0, {Of(DataType::kI64, {}), Of(DataType::kBool, {}), AnyFloats()});
  auto inner = ir::AtEndOf(body);
  const Value i = inner.Make<ops::Cast>({body.argument(0)}, {.to = DataType::kF32});
  const Value added = inner.Make<ops::SequenceInsert>(
      {body.argument(2), inner.Make<ops::Add>({x, i}), body.argument(0)});
  ir::ReturnFrom(body, {body.argument(1), added});
  EXPECT_EQ(Run({loop.result()}, {Long(3), List({}), Row({1})}), "([1] 1, [1] 2, [1] 3)");
  EXPECT_EQ(Again({Long(0), List({Row({5})}), Row({1})}), "([1] 5)");
  EXPECT_EQ(Again({Long(2), List({Row({5})}), Row({1, 1})}), "([2] 1 1, [2] 2 2, [1] 5)");
}

// The iteration count itself lies in memory that the next iteration writes.
TEST_F(Sequences, KeepWhatALoopCounts) {
  const Type ints = context.SequenceType(Of(DataType::kI64, {}));
  const Value trips = Index(), s = Input(ints);
  const Operation loop = ir::MakeWithRegions<ops::Loop>(program, {trips, Value(), s}, 1);
  const Block body = ir::AddBlock(loop, 0, {Of(DataType::kI64, {}), Of(DataType::kBool, {}), ints});
  const Value added =
      ir::AtEndOf(body).Make<ops::SequenceInsert>({body.argument(2), body.argument(0)});
  ir::ReturnFrom(body, {body.argument(1), added});
  EXPECT_EQ(Run({loop.result()}, {Long(3), List({})}), "([] 0, [] 1, [] 2)");
}

TEST_F(Sequences, AreReadInLoops) {
  const Value s = Input(AnyFloats());
  const Value n = builder.Make<ops::SequenceLength>({s});
  const Operation loop = ir::MakeWithRegions<ops::Loop>(program, {n, Value(), Input(F({}))}, 2);
  const Block body =
      ir::AddBlock(loop, 0, {Of(DataType::kI64, {}), Of(DataType::kBool, {}), F({})});
  auto inner = ir::AtEndOf(body);
  const Value x = inner.Make<ops::SequenceAt>({s, body.argument(0)});
  const Value sum = inner.Make<ops::ReduceSum>({x}, {.keepdims = 0});
  ir::ReturnFrom(body, {body.argument(1), inner.Make<ops::Add>({sum, body.argument(2)}), sum});
  EXPECT_EQ(Run({loop.result(0), loop.result(1)},
                {List({Row({1, 2}), Row({3}), Row({4, 5, 6})}), Floats({}, {100})}),
            "[] 121; [3] 3 3 15");
}

TEST_F(Sequences, AreMapped) {
  const Value s = Input(AnyFloats()), t = Input(AnyFloats()), x = Input({1}), w = Input({1});
  const Operation map = ir::MakeWithRegions<ops::SequenceMap>(program, {s, t, x}, 2);
  const Type any = context.UnrankedTensorType(DataType::kF32);
  const Block body = ir::AddBlock(map, 0, {any, any, F({1})});
  auto inner = ir::AtEndOf(body);
  const Value sum = inner.Make<ops::Add>({body.argument(0), body.argument(1)});
  const Value scaled = inner.Make<ops::Mul>({inner.Make<ops::Add>({sum, body.argument(2)}), w});
  ir::ReturnFrom(body, {scaled, body.argument(1)});
  EXPECT_EQ(
      Run({map.result(0), map.result(1)},
          {List({Row({1, 2}), Row({3})}), List({Row({10}), Row({20})}), Row({100}), Row({2})}),
      "([2] 222 224, [1] 246); ([1] 10, [1] 20)");
  EXPECT_EQ(Again({List({}), List({}), Row({100}), Row({2})}), "(); ()");
  EXPECT_EQ(Again({List({Row({1})}), List({}), Row({100}), Row({2})}),
            "operand 1 is a sequence of 0 but the first is one of 1");
}

TEST_F(Sequences, ThatAreCapturedAreNotMapped) {
  const Value s = Input(AnyFloats()), outer = Input(AnyFloats());
  const Operation map = ir::MakeWithRegions<ops::SequenceMap>(program, {s}, 1);
  const Block body = ir::AddBlock(map, 0, {context.UnrankedTensorType(DataType::kF32)});
  auto inner = ir::AtEndOf(body);
  const Value first = inner.Make<ops::SequenceAt>({outer, inner.ConstantScalar(DataType::kI64, 0)});
  ir::ReturnFrom(body, {inner.Make<ops::Add>({body.argument(0), first})});
  EXPECT_EQ(Run({map.result()}, {List({Row({1}), Row({2}), Row({3})}), List({Row({10})})}),
            "([1] 11, [1] 12, [1] 13)");
}

// A chain of ops on sequences is one segment, not one per op.
TEST_F(Sequences, NeedFewSegments) {
  Value s = builder.Make<ops::SequenceEmpty>({});
  const Value x = Input({1});
  for (int i = 0; i < 1500; ++i) s = builder.Make<ops::SequenceInsert>({s, x});
  EXPECT_EQ(Run({builder.Make<ops::SequenceLength>({s})}, {Row({1})}), "[] 1500");
}

}  // namespace
}  // namespace weft::kernels
