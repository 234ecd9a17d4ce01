#include "ir/analysis/convert_floats.h"

#include "ir/analysis/constant.h"
#include "ir/analysis/widen_floats.h"
#include "ir/text/printer.h"
#include "unittests/ir/dialects/infer_fixture.h"
#include "unittests/ir/region_builder.h"

namespace weft::ir {
namespace {

class ConvertFloatsTest : public InferTest {
 protected:
  Value H(const Shape& dims) { return X(dims, DataType::kF16); }
  // What the ops are, in order, with the element type of result 0: "Cast:f32 Add:f32".
  std::string Ops(Block block) {
    std::string text;
    for (const Operation op : block) {
      if (op.num_results() == 0) continue;
      const std::string_view name = op.name();
      text += (text.empty() ? "" : " ") + std::string(name.substr(name.find('.') + 1)) + ":" +
              std::string(DataTypeName(op.result().type().dtype()));
    }
    return text;
  }
  std::string Ops() {
    EXPECT_EQ(Verify(program).message(), "") << PrintProgram(program);
    return Ops(program.body());
  }
  size_t Narrow(bool inputs_and_outputs, std::function<bool(const FloatSlot&)> keeps = nullptr) {
    return ConvertFloats(
        program, {.target = [](DataType t) { return t == DataType::kF32 ? DataType::kF16 : t; },
                  .choose =
                      [](Operation op) {
                        return op.Is<ops::Sqrt>() ? FloatChoice::kKeep : FloatChoice::kConvert;
                      },
                  .keeps = std::move(keeps),
                  .inputs_and_outputs = inputs_and_outputs});
  }
};

TEST_F(ConvertFloatsTest, WidensARegionWithOneCastPerValueAtItsBorders) {
  const Value x = H({2, 3}), exp = b.Make<ops::Exp>({x});
  b.Return({{"y", b.Make<ops::Add>({exp, x})}, {"z", b.Make<ops::Mul>({exp, x})}});
  EXPECT_EQ(WidenFloats(program), 3u);
  EXPECT_EQ(Ops(), "Cast:f32 Exp:f32 Add:f32 Cast:f16 Mul:f32 Cast:f16");
  EXPECT_EQ(WidenFloats(program), 0u);
}

TEST_F(ConvertFloatsTest, WidensMovementOnlyOfWhatARegionComputes) {
  const Value x = H({2, 3});
  const Value before = b.Make<ops::Transpose>({x}, {.perm = {1, 0}});
  const Value after = b.Make<ops::Transpose>({b.Make<ops::Exp>({before})}, {.perm = {1, 0}});
  b.Return({{"y", b.Make<ops::Sqrt>({after})}});
  WidenFloats(program);
  EXPECT_EQ(Ops(), "Transpose:f16 Cast:f32 Exp:f32 Transpose:f32 Sqrt:f32 Cast:f16");
}

TEST_F(ConvertFloatsTest, WideningLeavesWhatShowsItsType) {
  const Value x = H({2, 3});
  const Value exp = b.Make<ops::Exp>({x});
  b.Return(
      {{"y", b.Make<ops::Cast>({exp}, {.to = DataType::kI64})}, {"z", b.Make<ops::IsInf>({exp})}});
  WidenFloats(program);
  EXPECT_EQ(Ops(), "Cast:f32 Exp:f32 Cast:f16 Cast:i64 IsInf:bool");
}

// Else no element need equal the greatest one, though both are shown as the same number.
TEST_F(ConvertFloatsTest, WideningComparesRoundedNumbers) {
  const Value x = H({4}), exp = b.Make<ops::Exp>({x});
  b.Return({{"equal", b.Make<ops::Equal>({exp, b.Make<ops::ReduceMax>({exp})})},
            {"less", b.Make<ops::Less>({exp, x})},
            {"greater", b.Make<ops::Greater>({x, x})},
            {"nonzero", b.Make<ops::NonZero>({exp})},
            {"unique", b.Make<ops::Unique>({exp})}});
  EXPECT_EQ(WidenFloats(program), 5u);
  EXPECT_EQ(
      Ops(),
      "Cast:f32 Exp:f32 Cast:f16 Cast:f32 ReduceMax:f32 Cast:f16 Cast:f32 Equal:bool Less:bool "
      "Greater:bool NonZero:i64 Unique:f16");
  EXPECT_EQ(WidenFloats(program), 0u);
}

TEST_F(ConvertFloatsTest, WidensBodiesAndRoundsWhatTheyTakeAndGive) {
  const Value flag = OfType(context.TensorType(DataType::kBool, {})), x = H({2});
  const Value outer = b.Make<ops::Exp>({x});
  const Operation op = MakeWithRegions<ops::If>(program, {flag}, 1);
  Rewriter(&program).SetType(op.result(), x.type());
  for (uint32_t i = 0; i < 2; ++i) {
    const Block branch = AddBlock(op, i, {});
    ReturnFrom(branch, {AtEndOf(branch).Make<ops::Mul>({outer, outer})});
  }
  b.Return({{"y", op.result()}});
  EXPECT_EQ(WidenFloats(program), 3u);
  EXPECT_EQ(Ops(), "Cast:f32 Exp:f32 If:f16");
  EXPECT_EQ(Ops(op.region(1).front()), "Mul:f32 Cast:f16");
}

TEST_F(ConvertFloatsTest, NarrowsInputsOutputsAndNamedElementTypes) {
  const Value x = X({2, 3}), ints = X({2, 3}, DataType::kI64);
  const Value cast = b.Make<ops::Cast>({ints}, {.to = DataType::kF32});
  b.Return({{"y", b.Make<ops::Add>({x, cast})}});
  EXPECT_EQ(Narrow(true), 2u);
  EXPECT_EQ(Ops(), "Cast:f16 Add:f16");
  EXPECT_EQ(program.body().argument(0).type().dtype(), DataType::kF16);
}

TEST_F(ConvertFloatsTest, KeepsOpsAndSlotsBetweenCasts) {
  const Value x = X({2, 3});
  const Value root = b.Make<ops::Sqrt>({b.Make<ops::Exp>({x})});
  b.Return({{"y", b.Make<ops::Pow>({root, X({2, 3})})}});
  Narrow(true, [](const FloatSlot& slot) {
    return slot.op.Is<ops::Pow>() && !slot.is_result && slot.index == 1;
  });
  EXPECT_EQ(Ops(), "Cast:f32 Exp:f16 Cast:f32 Sqrt:f32 Cast:f16 Pow:f16");
}

TEST_F(ConvertFloatsTest, KeepsInterfacesOnDemand) {
  b.Return({{"y", b.Make<ops::Exp>({X({2, 3})})}});
  Narrow(false);
  EXPECT_EQ(Ops(), "Cast:f16 Exp:f16 Cast:f32");
}

TEST_F(ConvertFloatsTest, NarrowsWhatALoopCarries) {
  const Type f32 = context.TensorType(DataType::kF32, {2});
  const Value trips = OfType(context.TensorType(DataType::kI64, {})), x = X({2});
  const Operation loop = MakeWithRegions<ops::Loop>(program, {trips, Value(), x}, 1);
  Rewriter(&program).SetType(loop.result(), f32);
  const Block body = AddBlock(
      loop, 0,
      {context.TensorType(DataType::kI64, {}), context.TensorType(DataType::kBool, {}), f32});
  ReturnFrom(body, {body.argument(1), AtEndOf(body).Make<ops::Sqrt>({body.argument(2)})});
  b.Return({{"y", loop.result()}});
  Narrow(true);
  EXPECT_EQ(Ops(), "Loop:f16");
  EXPECT_EQ(Ops(body), "Cast:f32 Sqrt:f32 Cast:f16") << "kept by name, in the body as outside";
}

TEST_F(ConvertFloatsTest, LeavesNothingBehindOfAnOpThatRefusesTheType) {
  const Value x = X({2}), y = OfType(context.UnrankedTensorType(DataType::kF32));
  b.Return({{"y", b.Make<ops::Pow>({x, y})}});
  Narrow(false, [](const FloatSlot& slot) { return slot.is_result; });
  EXPECT_EQ(Ops(), "Pow:f32");
}

}  // namespace
}  // namespace weft::ir
