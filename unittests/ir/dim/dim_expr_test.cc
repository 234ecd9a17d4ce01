#include "ir/dim/dim_expr.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <thread>
#include <utility>

namespace weft::ir {
namespace {

DimExpr Symbol(std::string_view name) { return DimExpr::OfDim(SymbolicDim(name)); }

std::string Canonical(std::string_view text) {
  const auto e = ParseDimExpr(text);
  return e ? e->ToString() : "no expression";
}

TEST(DimExpr, HasOneFormForEqualPolynomials) {
  const DimExpr n = Symbol("N"), s = Symbol("S");
  EXPECT_EQ((n + s) * (n - s), n * n - s * s);
  EXPECT_EQ((n * 2 + 1).ToDim(), (1 + n + n).ToDim());
  EXPECT_EQ((n + s - n).ToDim(), SymbolicDim("S"));
  EXPECT_EQ((n - n).ToDim(), 0);
  EXPECT_NE((n + 1).ToDim(), (n + 2).ToDim());
  EXPECT_EQ(((n + 1) * (s * 2 + 3)).ToString(), "2*N*S + 3*N + 2*S + 3");
}

TEST(DimExpr, DividesAsFarAsItIsExact) {
  EXPECT_EQ(Canonical("(8*N + 4)//4"), "2*N + 1");
  EXPECT_EQ(Canonical("(N*S*768)//(N*S)"), "no expression");  // a number
  EXPECT_EQ(Canonical("(N*S*768 + 3*N*S)//(N*3)"), "257*S");
  EXPECT_EQ(Canonical("(N*N + 2*N*S + S*S)//(N + S)"), "N + S");
  EXPECT_EQ(Canonical("(N - 1)//2 + 1"), "(N + 1)//2");
  EXPECT_EQ(Canonical("((N + 1)//2 + 1)//2"), "(N + 3)//4");
  EXPECT_EQ(Canonical("(6*N + 3)//4"), "(N + 1)//2 + N");
  EXPECT_EQ(Canonical("(2*N + 3)//4"), "(N + 1)//2");
  EXPECT_EQ(Canonical("(6*N*S)//(4*S)"), "N + N//2");
  EXPECT_EQ(Canonical("N//S"), "N//S");
  EXPECT_EQ(Canonical("2*(N//2)"), "2*(N//2)");  // not N
}

TEST(DimExpr, DropsOperandsOfExtremaThatAnotherOneBounds) {
  EXPECT_EQ(Canonical("max(N, 0) + S"), "N + S");
  EXPECT_EQ(Canonical("max(N - 1, 0)"), "max(1, N) - 1");
  EXPECT_EQ(Canonical("max(N - 1, 0) + 1"), "max(1, N)");
  EXPECT_EQ(Canonical("min(2*N, 2*S + 2*N)"), "2*N");
  EXPECT_EQ(Canonical("max(2*N, 2*S) + 1"), "2*max(N, S) + 1");
  EXPECT_EQ(Canonical("max(max(N, S), 2*N, N)"), "max(2*N, S)");
  EXPECT_EQ(Canonical("max(2*max(N, S), 3*K)"), "max(2*N, 2*S, 3*K)");
  EXPECT_EQ(Canonical("min(N - 2*(N//2), S + N)"), "N - 2*(N//2)");
  EXPECT_EQ(Canonical("min(N//2, (N + 1)//2)"), "N//2");
}

TEST(DimExpr, ReadsWhatExportersWrite) {
  EXPECT_EQ(Canonical("2*s0"), "2*s0");
  EXPECT_EQ(Canonical("s0 + 1"), "s0 + 1");
  EXPECT_EQ(Canonical("s1//2"), "s1//2");
  EXPECT_EQ(Canonical("(s0//2)"), "s0//2");
  EXPECT_EQ(Canonical("s0**2"), "s0*s0");
  EXPECT_EQ(Canonical("past_sequence_length + sequence_length"),
            "past_sequence_length + sequence_length");
  EXPECT_EQ(Canonical("floor(height/2 - 1/2) + 1"), "(height + 1)//2");
  EXPECT_EQ(Canonical("ceiling(N/4)"), "(N + 3)//4");
  EXPECT_EQ(Canonical("Max(1, s0)"), "max(1, s0)");
  EXPECT_EQ(Canonical("Mod(s0, 8)"), "s0 - 8*(s0//8)");
  EXPECT_EQ(Canonical("8*((s0 + 7) // 8)"), "8*((s0 + 7)//8)");
}

// A sign binds less than // here and more in Python, where -M//3 is (-M)//3.
TEST(DimExpr, WritesTheSignOfAQuotientOutsideOfParentheses) {
  EXPECT_EQ(Canonical("-(M//3) + N"), "-(M//3) + N");
  EXPECT_EQ(Canonical("-M//3 + N"), "-(M//3) + N");
  EXPECT_EQ(Canonical("max(S - M//3, N)"), "max(-(M//3) + S, N)");
  EXPECT_EQ(Canonical("-M*N + S"), "-M*N + S");
  EXPECT_EQ(Canonical("-2*(M//3) + N"), "-2*(M//3) + N");
  EXPECT_EQ(Canonical("N + 1 - S//3"), "N - S//3 + 1");
}

TEST(DimExpr, LeavesOtherNamesAlone) {
  for (const char* name : {"N",
                           "batch-size",
                           "seq-1",
                           "12",
                           "2*3",
                           "N - N",
                           "(N)",
                           "1*N",
                           "unk__12",
                           "a b",
                           "a/b",
                           "",
                           "floor(N/2",
                           "f(N)",
                           "N +",
                           "N//0",
                           "N*9223372036854775807*3",
                           "2N + 1",
                           "+",
                           "min()",
                           "min(N/2)",
                           "'N' - 'N' + 'x",
                           "N**99",
                           "*",
                           "Mod(N)"}) {
    EXPECT_FALSE(ParseDimExpr(name)) << name;
    const int64_t dim = SymbolicDim(name);
    EXPECT_TRUE(IsSymbolicDim(dim) && !IsExpressionDim(dim)) << name;
    EXPECT_EQ(SymbolName(dim), name);
    EXPECT_EQ(DimExpr::OfDim(dim).ToDim(), dim) << name;
  }
}

TEST(DimExpr, QuotesNamesThatAreNoWords) {
  const DimExpr e = Symbol("batch size") * 2 + Symbol("it's") + Symbol("2*3");
  EXPECT_EQ(e.ToString(), "'2*3' + 2*'batch size' + 'it''s'");
  EXPECT_EQ(ParseDimExpr(e.ToString()), e);
}

TEST(DimExpr, IsUnknownBeyondItsLimits) {
  const DimExpr n = Symbol("N");
  EXPECT_FALSE((n * INT64_MAX * 2).known());
  EXPECT_FALSE((n + INT64_MAX + 1).known());
  EXPECT_FALSE((DimExpr() * 0).known());
  EXPECT_FALSE(FloorDiv(n, 0).known());
  EXPECT_FALSE(FloorDiv(n, -2).known());
  EXPECT_EQ((DimExpr(2) - 3).ToDim(), kUnknownDim);
  DimExpr sum = 0, product = 1, nested = n;
  for (int i = 0; i < 100; ++i) {
    sum = sum + Symbol("x" + std::to_string(i));
    product = product * n;
    nested = Max(FloorDiv(nested * 3 + 1, Symbol("M")), 5);
  }
  EXPECT_FALSE(sum.known());
  EXPECT_FALSE(product.known());
  EXPECT_FALSE(nested.known());
  EXPECT_EQ((Symbol(std::string(5000, 'a')) + 1).ToDim(), kUnknownDim);
  EXPECT_FALSE(ParseDimExpr(std::string(900, '(') + "N"));
  EXPECT_FALSE(ParseDimExpr("N + " + std::string(5000, ' ') + "1"));
}

TEST(DimExpr, ProvesBounds) {
  EXPECT_TRUE(ParseDimExpr("2*N + 3")->IsAtLeast(3));
  EXPECT_FALSE(ParseDimExpr("2*N + 3")->IsAtLeast(4));
  EXPECT_FALSE(ParseDimExpr("N - 1")->IsAtLeast(0));
  EXPECT_TRUE(ParseDimExpr("N - 2*(N//2)")->IsAtLeast(0));
  EXPECT_TRUE(ParseDimExpr("N - N//2")->IsAtLeast(0));
  EXPECT_TRUE(ParseDimExpr("max(N, 4) - 4 + min(N, S)")->IsAtLeast(0));
  EXPECT_FALSE(ParseDimExpr("max(N, 4) - N*2")->IsAtLeast(0));
  EXPECT_TRUE(ParseDimExpr("min(64, N) - min(N, 1)")->IsAtLeast(0));
  EXPECT_TRUE(ParseDimExpr("min(N, S + 2) - min(N, 1)")->IsAtLeast(0));
  EXPECT_FALSE(ParseDimExpr("min(S, N) - min(N, 1)")->IsAtLeast(0));
  EXPECT_FALSE(DimExpr().IsAtLeast(INT64_MIN));
}

TEST(DimExpr, SubstitutesSizes) {
  const int64_t n = SymbolicDim("N"), s = SymbolicDim("S"), e = SymbolicDim("2*N + S//2");
  const DimBinding both[] = {{n, 5}, {s, 7}}, one[] = {{n, 5}};
  EXPECT_EQ(SubstituteDim(e, both), 13);
  EXPECT_EQ(SubstituteDim(e, one), SymbolicDim("S//2 + 10"));
  EXPECT_EQ(SubstituteDim(4, both), 4);
  EXPECT_EQ(SubstituteDim(kUnknownDim, both), kUnknownDim);
  EXPECT_EQ(SubstituteDim(s, one), s);
  const DimBinding whole[] = {{e, 9}}, zero[] = {{n, 0}};
  EXPECT_EQ(SubstituteDim(e, whole), 9);
  EXPECT_EQ(SubstituteDim(SymbolicDim("N - 1"), zero), kUnknownDim);
  EXPECT_EQ(SubstituteDim(SymbolicDim("S//N"), zero), kUnknownDim);
  std::vector<int64_t> symbols;
  DimExpr::OfDim(e).CollectSymbols(&symbols);
  EXPECT_EQ(symbols, (std::vector<int64_t>{n, s}));
}

// An expression as a tree, and what it must be for given sizes.
class RandomExpr {
 public:
  explicit RandomExpr(unsigned seed) : random_(seed) {}

  // *values has one value per row of sizes; nothing where it has none.
  DimExpr Make(int depth, std::vector<std::optional<int64_t>>* values) {
    if (depth == 0) return Leaf(values);
    std::vector<std::optional<int64_t>> left, right;
    const DimExpr a = Make(depth - 1, &left), b = Make(depth - 1 - Below(depth), &right);
    const int op = Below(6);
    values->clear();
    for (size_t i = 0; i < left.size(); ++i) values->push_back(Apply(op, left[i], right[i]));
    return op == 0   ? a + b
           : op == 1 ? a - b
           : op == 2 ? a * b
           : op == 3 ? FloorDiv(a, b)
           : op == 4 ? Min(a, b)
                     : Max(a, b);
  }

  static constexpr int64_t kSizes[][3] = {{0, 0, 0}, {1, 0, 2}, {3, 1, 1},   {2, 5, 0},
                                          {7, 4, 9}, {6, 6, 6}, {13, 8, 21}, {64, 1, 30}};

 private:
  int Below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  DimExpr Leaf(std::vector<std::optional<int64_t>>* values) {
    const int choice = Below(5);
    const int64_t number = choice == 3 ? Below(5) - 1 : Below(4) + 1;
    for (const auto& sizes : kSizes) values->push_back(choice < 3 ? sizes[choice] : number);
    constexpr std::string_view kNames[] = {"N", "S", "K"};
    return choice < 3 ? Symbol(kNames[choice]) : DimExpr(number);
  }

  static std::optional<int64_t> Apply(int op, std::optional<int64_t> x, std::optional<int64_t> y) {
    if (!x || !y || (op == 3 && *y <= 0)) return std::nullopt;
    switch (op) {
      case 0:
        return *x + *y;
      case 1:
        return *x - *y;
      case 2:
        return *x * *y;
      case 3:
        return *x / *y - (*x % *y < 0);
      case 4:
        return std::min(*x, *y);
      default:
        return std::max(*x, *y);
    }
  }

  std::mt19937 random_;
};

TEST(DimExpr, HasTheValueOfWhatItWasMadeOf) {
  size_t checked = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::vector<std::optional<int64_t>> values;
    const DimExpr e = RandomExpr(seed).Make(4, &values);
    if (!e.known()) continue;
    for (size_t i = 0; i < values.size(); ++i) {
      if (!values[i]) continue;  // a divisor that is not positive
      const auto& sizes = RandomExpr::kSizes[i];
      const DimBinding bindings[] = {
          {SymbolicDim("N"), sizes[0]}, {SymbolicDim("S"), sizes[1]}, {SymbolicDim("K"), sizes[2]}};
      const DimExpr value = e.Substitute(bindings);
      ASSERT_TRUE(value.number()) << e.ToString() << " became " << value.ToString();
      ASSERT_EQ(*value.number(), *values[i]) << e.ToString() << " with row " << i;
      ++checked;
      for (int64_t least = *values[i] + 1; least < *values[i] + 3; ++least)
        ASSERT_FALSE(e.IsAtLeast(least)) << e.ToString() << " at least " << least;
    }
  }
  EXPECT_GT(checked, 8000u);
}

TEST(DimExpr, ReadsBackWhatItWrites) {
  size_t checked = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::vector<std::optional<int64_t>> values;
    const DimExpr e = RandomExpr(seed).Make(4, &values);
    const int64_t dim = e.ToDim();
    if (!IsExpressionDim(dim)) continue;
    EXPECT_EQ(SymbolicDim(e.ToString()), dim) << e.ToString();
    EXPECT_EQ(DimExpr::OfDim(dim), e) << e.ToString();
    EXPECT_EQ(e + 0, e);
    ++checked;
  }
  EXPECT_GT(checked, 1000u);
}

TEST(DimExpr, IsInternedFromSeveralThreads) {
  std::vector<std::vector<int64_t>> dims(4);
  std::vector<std::thread> threads;
  for (auto& mine : dims)
    threads.emplace_back([&mine] {
      for (int i = 0; i < 200; ++i)
        mine.push_back(
            (Symbol("threads") * (i + 2) + Max(Symbol("t" + std::to_string(i)), 3)).ToDim());
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& mine : dims) EXPECT_EQ(mine, dims[0]);
  EXPECT_EQ(SymbolName(dims[0][0]), "max(3, t0) + 2*threads");
}

}  // namespace
}  // namespace weft::ir
