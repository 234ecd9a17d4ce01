#include "passes/verify/proof/size_equations.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft::passes {
namespace {

class SizeEquationsTest : public testing::Test {
 protected:
  Term Var(const std::string& name) { return t.Variable(Sort::kInt, name); }
  Term Product(const std::vector<Term>& factors) { return t.Product(factors); }
  Term AtLeast1(Term size) { return t.AtMost(t.Integer(1), size); }
  bool Follows(const std::vector<Term>& facts, Term goal) {
    return t.IsTrue(SizeEquations(t, facts).Simplified(goal));
  }

  Terms t;
  Term a = Var("a"), b = Var("b"), k = Var("k"), l = Var("l"), m = Var("m"), n = Var("n");
};

TEST_F(SizeEquationsTest, WhatIsNotZeroIsDividedOut) {
  const Term same = t.Equal(Product({a, b}), Product({a, k}));
  EXPECT_TRUE(Follows({same, AtLeast1(a)}, t.Equal(b, k)));
  EXPECT_FALSE(Follows({same}, t.Equal(b, k)));
  EXPECT_FALSE(Follows({same, t.AtMost(t.Integer(0), a)}, t.Equal(b, k)));
}

TEST_F(SizeEquationsTest, FactorsOfAProductThatIsNotZeroAreNot) {
  const Term one = AtLeast1(Product({a, b})), same = t.Equal(Product({a, k}), Product({a, l}));
  EXPECT_TRUE(Follows({one, same}, t.Equal(k, l)));
  // By what it equals.
  const Term split = t.Equal(m, Product({a, b}));
  EXPECT_TRUE(Follows({AtLeast1(m), split, same}, t.Equal(k, l)));
  EXPECT_TRUE(Follows({t.Equal(Product({a, b}), t.Integer(12)), same}, t.Equal(k, l)));
  EXPECT_FALSE(Follows({t.Equal(Product({a, b}), t.Integer(0)), same}, t.Equal(k, l)));
}

TEST_F(SizeEquationsTest, AnIndexBelowASizeSaysThatItIsNotZero) {
  const Term index = Var("index"), same = t.Equal(Product({a, k}), Product({a, l}));
  const Term natural = t.AtMost(t.Integer(0), index);
  EXPECT_TRUE(Follows({natural, t.Less(index, a), same}, t.Equal(k, l)));
  EXPECT_FALSE(Follows({t.Less(index, a), same}, t.Equal(k, l)));
}

// x [a, b, k] as [m, l], times w [l, n], as [a, b, n]: the rows are those of x, so the columns are.
TEST_F(SizeEquationsTest, ElementCountsOfReshapesAreFollowed) {
  const std::vector<Term> facts = {t.Equal(Product({a, b, k}), Product({m, l})),
                                   t.Equal(Product({m, n}), Product({a, b, n})), AtLeast1(a),
                                   AtLeast1(b), AtLeast1(n)};
  EXPECT_TRUE(Follows(facts, t.Equal(m, Product({a, b}))));
  EXPECT_TRUE(Follows(facts, t.Equal(k, l)));
  EXPECT_FALSE(Follows(facts, t.Equal(k, n)));
}

TEST_F(SizeEquationsTest, OfSumsTheSameIsDividedOut) {
  const Term sum = t.Plus(a, t.Integer(1));
  EXPECT_TRUE(Follows({t.Equal(m, sum), AtLeast1(k)},
                      t.Equal(Product({m, k}), t.Plus(Product({a, k}), k))));
}

TEST_F(SizeEquationsTest, AVariableOfItsOwnQuotientIsNotSolvedFor) {
  const Term half = t.Quotient(m, t.Integer(2));
  const std::vector<Term> facts = {t.Equal(m, t.Times(t.Integer(2), half))};
  EXPECT_FALSE(Follows(facts, t.Equal(m, n)));
  EXPECT_TRUE(Follows(facts, t.Equal(m, m)));
}

}  // namespace
}  // namespace weft::passes
