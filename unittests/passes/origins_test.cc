// What the driver and the passes say of where operations come from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/dialects/fused.h"
#include "ir/origin/origin.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/walk.h"
#include "kernels/runtime/evaluator.h"
#include "passes/pass_manager.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

using ir::Operation;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Texts(const std::vector<ir::Name>& names) {
  std::vector<std::string> texts;
  for (const ir::Name name : names) texts.emplace_back(name.str());
  return texts;
}

class PassOrigins : public testing::Test {
 protected:
  PassOrigins() { ir::LoadFusedDialect(context_); }

  void Run(const std::string& text, const std::vector<std::string>& passes, bool record = true) {
    auto program = ir::ParseProgram(context_, text);
    ASSERT_TRUE(program.ok()) << program.status();
    program_ = *std::move(program);
    if (record) ir::RecordOrigins(*program_);
    auto evaluator = kernels::KernelEvaluator::Create("auto");
    PassManager pm(&context_);
    for (const std::string& pass : passes) pm.AddPass(MakePass(pass));
    pm.pass_context().evaluator = evaluator->get();
    ASSERT_EQ(pm.Run(*program_).message(), "");
  }
  ir::Origin OriginOf(std::string_view op_name) {
    ir::Origin found;
    ir::Walk(*program_, [&](Operation op) {
      if (op.name() == op_name) found = ir::OriginOf(op);
    });
    return found;
  }
  std::vector<std::string> Sources(std::string_view op) { return Texts(OriginOf(op).sources); }
  std::vector<std::string> Rules(std::string_view op) { return Texts(OriginOf(op).rules); }

  ir::IrContext context_;
  std::unique_ptr<ir::Program> program_;
};

// relu(matmul(x, transpose(w)) + b)
constexpr const char* kLinear =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<4x3xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<2x3xf32>, [1.0,2.0,3.0,4.0,5.0,6.0]>} : () -> tensor<2x3xf32>
 (%2) = "builtin.constant" () {value:dense<tensor<2xf32>, [1.0,2.0]>} : () -> tensor<2xf32>
 (%3) = "onnx.Transpose" (%1) {perm:array[1,0]} : (tensor<2x3xf32>) -> tensor<3x2xf32> loc("turn")
 (%4 "m") = "onnx.MatMul" (%0, %3) {} : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32> loc("mm")
 (%5) = "onnx.Add" (%4, %2) {} : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32> loc("plus")
 (%6 "y") = "onnx.Relu" (%5) {} : (tensor<4x2xf32>) -> tensor<4x2xf32>
 () = "builtin.return" (%6) {} : (tensor<4x2xf32>) ->
}
)";

TEST_F(PassOrigins, NameWhatAFusedOperationHolds) {
  Run(kLinear, FindPipeline("fuse")->passes);
  EXPECT_THAT(Sources("fused.linear"), ElementsAre("mm", "plus", "%y"));
  EXPECT_THAT(Rules("fused.linear"), Contains("fuse-gemm"));
}

TEST_F(PassOrigins, NameWhatAConstantWasFoldedFrom) {
  Run(kLinear, {"constant-folding", "dead-code-elimination"});
  EXPECT_THAT(Sources("builtin.constant"), ElementsAre("turn"));
  EXPECT_THAT(Rules("builtin.constant"), ElementsAre("constant-folding"));
  EXPECT_THAT(Sources("onnx.MatMul"), ElementsAre("mm"));
  EXPECT_THAT(Rules("onnx.MatMul"), IsEmpty());
}

// tanh(-x) + abs(-x)
constexpr const char* kElementwise =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2xf32>) {
 (%1) = "onnx.Neg" (%0) {} : (tensor<2xf32>) -> tensor<2xf32> loc("n1")
 (%2) = "onnx.Neg" (%0) {} : (tensor<2xf32>) -> tensor<2xf32> loc("n2")
 (%3) = "onnx.Tanh" (%1) {} : (tensor<2xf32>) -> tensor<2xf32> loc("t")
 (%4) = "onnx.Abs" (%2) {} : (tensor<2xf32>) -> tensor<2xf32> loc("a")
 (%5) = "onnx.Add" (%3, %4) {} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("s")
 () = "builtin.return" (%5) {} : (tensor<2xf32>) ->
}
)";

TEST_F(PassOrigins, NameBothOfTwoThatWereMerged) {
  Run(kElementwise, {"common-subexpression-elimination"});
  EXPECT_THAT(Sources("onnx.Neg"), ElementsAre("n1", "n2"));
  EXPECT_THAT(Rules("onnx.Neg"), ElementsAre("common-subexpression-elimination"));
}

TEST_F(PassOrigins, NameTheGroupOfALoopOverElementsAndEachOfItsBody) {
  Run(kElementwise, {"common-subexpression-elimination", "fuse-elementwise"});
  EXPECT_THAT(Sources("fused.elementwise"), ElementsAre("n1", "n2", "t", "a", "s"));
  EXPECT_THAT(Rules("fused.elementwise"),
              ElementsAre("common-subexpression-elimination", "fuse-elementwise"));
  EXPECT_THAT(Sources("onnx.Tanh"), ElementsAre("t"));  // in the body
}

// A transpose moves down the whole chain and takes nothing of it along.
TEST_F(PassOrigins, OfWhatATransposePassesAreItsOwn) {
  Run(R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2x3xf32>) {
 (%1) = "onnx.Transpose" (%0) {perm:array[1,0]} : (tensor<2x3xf32>) -> tensor<3x2xf32> loc("t")
 (%2) = "onnx.Relu" (%1) {} : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("r")
 (%3) = "onnx.Tanh" (%2) {} : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("h")
 (%4) = "onnx.Transpose" (%3) {perm:array[1,0]} : (tensor<3x2xf32>) -> tensor<2x3xf32> loc("u")
 () = "builtin.return" (%4) {} : (tensor<2x3xf32>) ->
}
)",
      {"layout"});
  EXPECT_THAT(Sources("onnx.Relu"), ElementsAre("r"));
  EXPECT_THAT(Sources("onnx.Tanh"), ElementsAre("h"));
  EXPECT_EQ(Rules("onnx.Tanh").size(), 1u);
}

TEST_F(PassOrigins, ChangeNothingElse) {
  for (const char* pipeline : {"simplify", "layout", "fuse"})
    for (const char* text : {kLinear, kElementwise}) {
      Run(text, FindPipeline(pipeline)->passes, /*record=*/false);
      const std::string without = ir::PrintProgram(*program_);
      Run(text, FindPipeline(pipeline)->passes);
      EXPECT_EQ(ir::PrintProgram(*program_), without);
      // No operation is without one.
      ir::Walk(*program_, [&](Operation op) {
        const bool has = ir::OriginOf(op) != ir::Origin();
        EXPECT_TRUE(has || op.HasTrait(ir::kConstantLike) || op.HasTrait(ir::kTerminator))
            << op.name();
      });
    }
}

TEST_F(PassOrigins, AreRecordedByADriverThatIsToldTo) {
  auto program = ir::ParseProgram(context_, kLinear);
  ASSERT_TRUE(program.ok()) << program.status();
  PassManager pm(&context_);
  for (const std::string& pass : FindPipeline("fuse")->passes) pm.AddPass(MakePass(pass));
  pm.pass_context().fold_constants = false;
  pm.pass_context().record_rules = true;
  ASSERT_EQ(pm.Run(**program).message(), "");
  EXPECT_TRUE(ir::RecordsOrigins(**program));
}

}  // namespace
}  // namespace weft::passes
