#include "tools/onnx/element_types.h"

#include <gmock/gmock.h>

#include "ir/builder.h"
#include "ir/dialects/onnx.h"
#include "unittests/onnx/model_builder.h"

namespace weft::onnx {
namespace {

using ir::DataType;
using testing::HasSubstr;

TEST(ElementTypes, AreThoseOfTheOpset) {
  EXPECT_TRUE(TakesElementType({"Add", false, 1}, DataType::kBF16, 13));
  EXPECT_FALSE(TakesElementType({"Add", false, 1}, DataType::kU8, 13));
  EXPECT_TRUE(TakesElementType({"Add", false, 1}, DataType::kU8, 14));
  EXPECT_FALSE(TakesElementType({"Conv", true, 0}, DataType::kBF16, 21));
  EXPECT_TRUE(TakesElementType({"Conv", true, 0}, DataType::kBF16, 22));
  EXPECT_TRUE(TakesElementType({"Conv", true, 0}, DataType::kF16, 13));
}

TEST(ElementTypes, AreThoseOfTheSlot) {
  EXPECT_TRUE(TakesElementType({"Resize", false, 0}, DataType::kF16, 19));
  EXPECT_FALSE(TakesElementType({"Resize", false, 2}, DataType::kF16, 19));
  EXPECT_TRUE(TakesElementType({"Resize", false, 2}, DataType::kF32, 19));
  EXPECT_TRUE(TakesElementType({"Concat", false, 7}, DataType::kF16, 13));
  EXPECT_FALSE(TakesElementType({"Concat", false, 7}, DataType::kF8E5M2, 13));
}

TEST(ElementTypes, OfOperatorsThatTheOpsetHasNotAreFree) {
  EXPECT_TRUE(TakesElementType({"Gelu", false, 0}, DataType::kI8, 19));
  EXPECT_TRUE(TakesElementType({"Frobnicate", false, 0}, DataType::kI8, 19));
}

TEST(ElementTypes, AreKnownOfEveryOperator) {
  ir::IrContext context;
  ir::LoadOnnxDialect(context);
  size_t count = 0;
  for (const ir::OpDef* def : context.Ops()) {
    if (def->info->onnx.empty() || !def->info->onnx_domain.empty()) continue;
    if (def->info->operands.size() == 0) continue;
    ++count;
    EXPECT_FALSE(TakesElementType({def->info->onnx, false, 0}, DataType::kNull, kNewestTargetOpset))
        << def->info->onnx;
  }
  EXPECT_GT(count, 150u);
}

TEST(ElementTypes, ThatTheTargetHasNotAreUnsupported) {
  ir::IrContext context;
  ir::LoadOnnxDialect(context);
  ir::Program program(&context);
  ir::Builder b(&program);
  const ir::Value x = b.AddInput("x", context.TensorType(DataType::kBF16, {1, 1, 3, 3})),
                  w = b.AddInput("w", context.TensorType(DataType::kBF16, {1, 1, 2, 2}));
  b.Return({{"y", b.Make<ir::ops::Conv>({x, w})}});
  TempDir dir;
  const absl::Status status = ExportOnnx(program, dir / "a.onnx", {.target_opset = 21});
  EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("operand 0 is of type bf16, which Conv of opset 21 does not take"));
  EXPECT_TRUE(ExportOnnx(program, dir / "a.onnx", {.target_opset = 22}).ok());
}

// Which an output is that no node computes.
TEST(ElementTypes, OfCopiesAreThoseOfIdentity) {
  ir::IrContext context;
  const auto copied = [&](ir::Type type, int64_t target) {
    ir::Program program(&context);
    ir::Builder b(&program);
    b.Return({{"y", b.AddInput("x", type)}});
    return std::string(ir::Message(ExportOnnxBytes(program, {.target_opset = target}).status()));
  };
  const ir::Type u4 = context.TensorType(ir::DataType::kU4, {2});
  EXPECT_EQ(copied(u4, 21), "");
  EXPECT_EQ(copied(u4, 13),
            "an output of type tensor<2xu4> that no node computes, which Identity of opset 13 does "
            "not take");
  const ir::Type floats = context.SequenceType(context.TensorType(ir::DataType::kF32, {2}));
  EXPECT_EQ(copied(floats, 14), "");
  EXPECT_EQ(
      copied(floats, 13),
      "an output of type seq<tensor<2xf32>> that no node computes, in opset 13; Identity takes "
      "a sequence from 14 on");
}

}  // namespace
}  // namespace weft::onnx
