#include "passes/verify/proof/term.h"

#include <gtest/gtest.h>

#include "passes/verify/proof/solver.h"

namespace weft::passes {
namespace {

class TermTest : public testing::Test {
 protected:
  Term Size(const std::string& name) { return t_.Variable(Sort::kInt, name); }
  Terms t_;
};

TEST_F(TermTest, PolynomialsThatAreEqualAreOneTerm) {
  const Term n = Size("n"), m = Size("m"), one = t_.Integer(1);
  EXPECT_EQ(t_.Times(t_.Plus(n, one), t_.Minus(n, one)), t_.Minus(t_.Times(n, n), one));
  EXPECT_EQ(t_.Times(m, t_.Times(n, m)), t_.Product({n, m, m}));
  EXPECT_EQ(t_.Minus(t_.Plus(n, m), n), m);
  EXPECT_NE(t_.Times(n, m), t_.Times(n, n));
}

TEST_F(TermTest, DecidesWhatNumbersDecide) {
  const Term n = Size("n");
  EXPECT_TRUE(t_.IsTrue(t_.Less(n, t_.Plus(n, t_.Integer(1)))));
  EXPECT_TRUE(t_.IsFalse(t_.Equal(n, t_.Plus(n, t_.Integer(1)))));
  EXPECT_EQ(t_.If(t_.AtMost(n, n), n, t_.Integer(0)), n);
  EXPECT_FALSE(t_.IsTrue(t_.AtMost(t_.Integer(0), n)));  // a variable may be negative
}

TEST_F(TermTest, ZerosHaveASign) { EXPECT_NE(t_.Number(0.0), t_.Number(-0.0)); }

TEST_F(TermTest, WhatDoesNotFitIsEqualToNothing) {
  const Term large = t_.Integer(INT64_MAX);
  EXPECT_NE(t_.Plus(large, t_.Integer(1)), t_.Plus(large, t_.Integer(1)));
  EXPECT_NE(t_.Times(large, large), t_.Integer(1));
}

class SolverTest : public TermTest {
 protected:
  void SetUp() override {
    if (!solver_) GTEST_SKIP() << "built without Z3";
  }
  Term Element(const std::string& name) { return t_.Variable(Sort::kElement, name); }
  Term Call(const std::string& function, std::vector<Term> arguments) {
    return t_.Apply(Sort::kElement, function, std::move(arguments));
  }
  const std::unique_ptr<Solver> solver_ = MakeSolver(t_, 2000);
};

TEST_F(SolverTest, ProvesIndicesFromFacts) {
  const Term i = Size("i"), n = Size("n"), zero = t_.Integer(0);
  const std::vector<Term> in_range = {t_.AtMost(zero, i), t_.Less(i, n)};
  EXPECT_FALSE(solver_->Proves(in_range, t_.Equal(i, zero)));
  std::vector<Term> of_one = in_range;
  of_one.push_back(t_.Equal(n, t_.Integer(1)));
  EXPECT_TRUE(solver_->Proves(of_one, t_.Equal(i, zero)));
  EXPECT_TRUE(solver_->CanHold(of_one));
  of_one.push_back(t_.Less(n, zero));
  EXPECT_FALSE(solver_->CanHold(of_one));
}

TEST_F(SolverTest, TakesFunctionsOfElementsForAny) {
  const Term i = Size("i"), j = Size("j");
  const Term x = Call("x", {i}), y = Call("x", {j});
  EXPECT_FALSE(solver_->Proves({}, t_.Equal(Call("f", {x}), Call("f", {y}))));
  EXPECT_TRUE(solver_->Proves({t_.Equal(i, j)}, t_.Equal(Call("f", {x}), Call("f", {y}))));
  EXPECT_FALSE(solver_->Proves({}, t_.Equal(Call("f", {x}), Call("g", {x}))));
  EXPECT_FALSE(solver_->Proves({}, t_.Equal(t_.Number(0.1), t_.Number(0.1 + 1e-12))));
}

TEST_F(SolverTest, KnowsTheArithmeticOfEachType) {
  using ir::DataType;
  const Term x = Element("x"), y = Element("y");
  const Term plus_zero = Call("onnx.Add", {x, t_.Number(0.0)});
  EXPECT_FALSE(solver_->ProvesEqual(plus_zero, x, DataType::kF32));  // -0
  EXPECT_TRUE(solver_->ProvesEqual(Call("onnx.Add", {x, t_.Number(-0.0)}), x, DataType::kF32));
  EXPECT_TRUE(solver_->ProvesEqual(plus_zero, x, DataType::kI64));
  EXPECT_TRUE(solver_->ProvesEqual(plus_zero, x, std::nullopt));
  const Term times_zero = Call("onnx.Mul", {x, t_.Number(0.0)});
  EXPECT_FALSE(solver_->ProvesEqual(times_zero, t_.Number(0.0), DataType::kF16));
  EXPECT_TRUE(solver_->ProvesEqual(times_zero, t_.Number(0.0), DataType::kU8));
  const Term quotient = Call("onnx.Mul", {Call("onnx.Div", {x, y}), y});
  EXPECT_FALSE(solver_->ProvesEqual(quotient, x, DataType::kI8));
  EXPECT_TRUE(solver_->ProvesEqual(quotient, x, std::nullopt));  // where y is not 0
  EXPECT_FALSE(solver_->ProvesEqual(x, quotient, std::nullopt));
  EXPECT_TRUE(solver_->ProvesEqual(Call("onnx.And", {x, t_.Number(1)}), x, DataType::kBool));
  EXPECT_FALSE(solver_->ProvesEqual(Call("onnx.Or", {x, t_.Number(1)}), x, DataType::kBool));
  EXPECT_FALSE(solver_->ProvesEqual(Call("custom.F", {x}), Call("custom.F", {x}), DataType::kF32));
}

}  // namespace
}  // namespace weft::passes
