// The sizes that programs of a rule are run with.
#include "passes/verify/input_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/text/parser.h"
#include "unittests/fixtures/golden.h"

namespace weft::passes {
namespace {

using ::testing::ElementsAre;

using Types = std::vector<ir::Type>;

class InputSizes : public testing::Test {
 protected:
  ir::Type Tensor(const ir::Shape& shape) { return context_.TensorType(ir::DataType::kF32, shape); }
  // A program with inputs of these types, found with those.
  RuleInstance Instance(const Types& types, const Types& found) {
    auto program = std::make_unique<ir::Program>(&context_);
    ir::Builder b(program.get());
    for (const ir::Type type : types) b.AddInput("x", type);
    return {std::move(program), {}, true, found};
  }

  ir::IrContext context_;
  const int64_t n_ = ir::SymbolicDim("n"), m_ = ir::SymbolicDim("m");
};

TEST_F(InputSizes, AreThoseOfTheTypesWhereNothingIsOpen) {
  const Types types = {Tensor({2, 3}), Tensor({})};
  EXPECT_THAT(InputTypesOf(Instance(types, types), 1), ElementsAre(types));
}

TEST_F(InputSizes, AreThoseThatWereFoundOthersAndOne) {
  const auto all = InputTypesOf(
      Instance({Tensor({n_, 4}), Tensor({m_, n_})}, {Tensor({5, 4}), Tensor({3, 5})}), 1);
  EXPECT_EQ(all[0], (Types{Tensor({2, 4}), Tensor({4, 2})}));
  EXPECT_EQ(all[1], (Types{Tensor({5, 4}), Tensor({3, 5})}));
  EXPECT_EQ(all[2], (Types{Tensor({1, 4}), Tensor({1, 1})}));
  EXPECT_GE(all.size(), 4u);
  for (const Types& types : all) {
    EXPECT_EQ(types[0].dims()[0], types[1].dims()[1]);  // one symbol is one size
    EXPECT_EQ(types[0].dims()[1], 4);
  }
}

TEST_F(InputSizes, AreThoseThatWereFoundWhereNotEvenTheRankIsKnown) {
  EXPECT_THAT(InputTypesOf(
                  Instance({context_.UnrankedTensorType(ir::DataType::kF32)}, {Tensor({2, 3})}), 1),
              ElementsAre(Types{Tensor({2, 3})}));
}

TEST_F(InputSizes, AreThoseThatSymbolsStandFor) {
  const auto closed = [&](const ir::Shape& shape) {
    return ClosedInputTypes(*Instance({Tensor(shape)}, {}).program);
  };
  EXPECT_EQ(closed({ir::SymbolicDim("s5"), 3}), (Types{Tensor({5, 3})}));
  for (const std::string name : {"n", "s", "s1", "s5x", "s1000000000000"})
    EXPECT_EQ(closed({ir::SymbolicDim(name), ir::SymbolicDim("m")}), (Types{Tensor({2, 3})}))
        << name;
  EXPECT_EQ(closed({ir::kUnknownDim, 3}), std::nullopt);
}

// Different ones, or else others.
TEST_F(InputSizes, AreThoseThatNoOpForbids) {
  fixtures::LoadGoldenDialects(context_);
  const auto closed = [&](const std::string& a, const std::string& b) {
    const auto program =
        ir::ParseProgram(context_,
                         "module {} (%0: tensor<" + a + ">, %1: tensor<" + b + R"(>) {
  (%2) = "onnx.Add" (%0, %1) {} : (tensor<)" +
                             a + ">, tensor<" + b + R"(>) -> tensor<?xf32>
  () = "builtin.return" (%2) {} : (tensor<?xf32>) -> 
})",
                         {});
    EXPECT_TRUE(program.ok()) << program.status();
    return program.ok() ? ClosedInputTypes(**program) : std::nullopt;
  };
  EXPECT_EQ(closed("\"a\"xf32", "\"b\"xf32"), (Types{Tensor({3}), Tensor({3})}));
  EXPECT_EQ(closed("\"a\"xf32", "2xf32"), (Types{Tensor({2}), Tensor({2})}));
}

// A Reshape copies what is at its place, and one other size is what is left.
TEST(OpenSizes, AreFollowedByWhatIsComputed) {
  ir::IrContext context;
  fixtures::LoadGoldenDialects(context);
  const auto program = ir::ParseProgram(context, R"(module {} (%0: tensor<2x15xf32>) {
  (%1) = "builtin.constant" () {value:dense<tensor<3xi64>, [2,5,3]>} : () -> tensor<3xi64>
  (%2) = "onnx.Reshape" (%0, %1) {allowzero:0} : (tensor<2x15xf32>, tensor<3xi64>) -> tensor<2x5x3xf32>
  () = "builtin.return" (%2) {} : (tensor<2x5x3xf32>) -> 
})",
                                        {});
  ASSERT_TRUE(program.ok()) << program.status();
  const auto opened = WithOpenSizes(**program, {2});
  ASSERT_NE(opened, nullptr);
  EXPECT_TRUE(HasOpenSizes(*opened));
  const ir::Value result = opened->body().Terminator().operand(0);
  EXPECT_EQ(result.type().shape(), (ir::Shape{ir::SymbolicDim("s2"), 5, 3}));
  EXPECT_EQ(ClosedInputTypes(*opened)->at(0), (*program)->body().arguments()[0].type());
}

}  // namespace
}  // namespace weft::passes
