// Sizes at which anything cubic would show; the programs of golden/concat-forwarding/ have the rest.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/dialects/onnx.h"
#include "passes/pass_manager.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using ir::Value;

// Every other slice counts from the end.
TEST(ConcatForwarding, ReadsFiveThousandPartsOfOneConcat) {
  constexpr int64_t kParts = 5000;
  ir::IrContext context;
  ir::LoadOnnxDialect(context);
  ir::Program program(&context);
  ir::Builder b(&program);
  const Value x = b.AddInput("x", context.TensorType(ir::DataType::kF32, {2, 1}));
  std::vector<Value> parts;
  for (int64_t i = 0; i < kParts; ++i) parts.push_back(b.Make<ops::Relu>({x}));
  const Value whole = b.Make<ops::Concat>(parts, {.axis = 1}), axes = b.ConstantInts({1});
  std::vector<std::pair<std::string, Value>> outputs;
  for (int64_t i = 0; i < kParts; ++i) {
    const int64_t start = i % 2 == 0 ? i : i - kParts;
    const Value end = b.ConstantInts({start == -1 ? INT64_MAX : start + 1});
    outputs.emplace_back("y" + std::to_string(i),
                         b.Make<ops::Slice>({whole, b.ConstantInts({start}), end, axes}));
  }
  b.Return(outputs);
  PassManager pm(&context);
  pm.AddPass(MakePass("concat-forwarding"));
  ASSERT_TRUE(pm.Run(program).ok());
  const ir::Operation end = program.body().Terminator();
  for (uint32_t i = 0; i < end.num_operands(); ++i) EXPECT_EQ(end.operand(i), parts[i]);
}

}  // namespace
}  // namespace weft::passes
