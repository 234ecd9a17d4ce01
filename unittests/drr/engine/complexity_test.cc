// Programs that would make a careless matcher slow: many readers, many operands, long chains, many
// operand orders. Work is counted, not timed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/drr/cpp/language_test_util.h"

namespace weft::drr {
namespace {

using ir::Operation;
using ir::Value;
using toy::Add;
using toy::Join;
using toy::Norm;
using toy::Relu;
using toy::Sub;
using toy::Tanh;

class HardCases : public Language {
 protected:
  // Whether the rule matches at `op`.
  bool Matches(const BuildResult& built, Operation op) {
    MatchContext match(built.rule.get());
    return Matcher(*built.rule).Match(op, &match);
  }
};

TEST_F(HardCases, PartnersOfARootAmongFiftyThousandReaders) {
  int asked = 0;
  auto rule = [&asked](SourcePattern& src, ResultPattern& res) {  // relu(x), tanh(x)
    auto x = src.Tensor("x");
    auto first = src.Op<Relu>()(x), second = src.Op<Tanh>()(x);
    src.RequireNativeCall("never", [&asked](const MatchContext&) { return ++asked < 0; });
    res.Tensor(first) = x;
    res.Tensor(second) = x;
  };
  std::vector<Operation> roots;
  for (int i = 0; i < 50000; ++i) {
    const Value v = i % 2 ? b.Make<Relu>({x}) : b.Make<Tanh>({x});
    if (i % 2 && roots.size() < 100) roots.push_back(v.DefiningOp());
  }
  const BuildResult built = Rule(rule).Build(&context);
  for (Operation root : roots) EXPECT_FALSE(Matches(built, root));
  EXPECT_EQ(asked, 100 * static_cast<int>(Matcher::kMaxJoinCandidates));
}

TEST_F(HardCases, AnIntermediateWithFiftyThousandReadersIsRefusedAtTheFirst) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto out = src.Op<Relu>()(src.Op<Tanh>()(x));
    res.Tensor(out) = x;
  };
  const Value t = b.Make<Tanh>({x});
  std::vector<Operation> readers;
  for (int i = 0; i < 50000; ++i) readers.push_back(b.Make<Relu>({t}).DefiningOp());
  const BuildResult built = Rule(rule).Build(&context);
  for (Operation reader : readers) EXPECT_FALSE(Matches(built, reader));
}

TEST_F(HardCases, AListOfAHundredThousandOperands) {
  std::vector<Value> operands(100000, y);
  for (size_t i = 0; i < operands.size(); i += 100) operands[i] = b.Make<Norm>({x}, {.axis = 1});
  const Value inner = b.Make<Join>({x, z});
  operands[99990] = inner;
  const Value big = b.Make<Join>(operands);
  b.Return({{"big", big}});
  auto flatten = [](SourcePattern& src, ResultPattern& res) {  // join(xs, join(ys), zs)
    auto xs = src.Tensors("xs"), ys = src.Tensors("ys"), zs = src.Tensors("zs");
    auto out = src.Op<Join>()(xs, src.Op<Join>()(ys), zs);
    res.Tensor(out) = res.Op<Join>()(xs, ys, zs);
  };
  EXPECT_EQ(Try(big.DefiningOp(), flatten), "");
  EXPECT_EQ(Output(0).num_operands(), 100001u);
  EXPECT_EQ(Output(0).operand(99991), z);
}

// Also where the reason is asked for.
TEST_F(HardCases, TheEmptyOneOfAHundredThousandOperands) {
  const auto drop_empty = [](SourcePattern& src, ResultPattern& res) {  // join(xs, e, ys)
    auto xs = src.Tensors("xs"), ys = src.Tensors("ys");
    auto e = src.Tensor("e");
    auto out = src.Op<Join>()(xs, e, ys);
    src.Require(Dim(e, 0, 0));
    res.Tensor(out) = res.Op<Join>()(xs, ys);
  };
  std::vector<Value> operands(100000, y);
  const Value none = b.Make<Join>(operands);
  operands[99990] = Input("empty", {0, 3});
  const Value big = b.Make<Join>(operands);
  b.Return({{"none", none}, {"big", big}});
  EXPECT_EQ(Try(none.DefiningOp(), drop_empty), "does not hold: axis 0 of e has size 0");
  EXPECT_EQ(Try(big.DefiningOp(), drop_empty), "");
  EXPECT_EQ(Output(1).num_operands(), 99999u);
}

TEST_F(HardCases, AnOpForEachOfAHundredThousandOperands) {
  std::vector<Value> operands;
  for (int i = 0; i < 100000; ++i) operands.push_back(b.Make<Tanh>({i % 2 ? x : y}));
  const Value big = b.Make<Join>(operands);
  b.Return({{"big", big}});
  auto rule = [](SourcePattern& src, ResultPattern& res) {  // join(tanh(xs)) => tanh(join(xs))
    auto xs = src.Tensors("xs");
    auto out = src.Op<Join>()(src.Op<Tanh>().Each(xs));
    res.Tensor(out) = res.Op<Tanh>()(res.Op<Join>()(xs));
  };
  EXPECT_EQ(Try(big.DefiningOp(), rule), "");
  EXPECT_EQ(Output(0).operand(0).DefiningOp().num_operands(), 100000u);
  EXPECT_EQ(program.body().num_ops(), 3u);
}

TEST_F(HardCases, AChainIsFollowedOnlySoFar) {
  size_t longest = 0, asked = 0;
  auto rule = [&](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto f = src.Repeat<Relu, Tanh>();
    auto out = src.Op<Tanh>()(f(x));
    src.RequireNativeCall("never", [=, &longest, &asked](const MatchContext& m) {
      longest = std::max(longest, m[f].size());
      return ++asked == 0;
    });
    res.Tensor(out) = res.Like(f)(x);
  };
  std::vector<Operation> ops;
  Value v = x;
  for (int i = 0; i < 3000; ++i) {
    v = i % 3 ? b.Make<Relu>({v}) : b.Make<Tanh>({v});
    if (i % 3 == 0) ops.push_back(v.DefiningOp());
  }
  b.Return({{"out", v}});
  const BuildResult built = Rule(rule).Build(&context);
  for (Operation op : ops) EXPECT_FALSE(Matches(built, op));
  EXPECT_EQ(longest, 32u);
  EXPECT_LE(asked, 33 * ops.size());
}

TEST_F(HardCases, ManyOperandOrdersAreNotAllTried) {
  // A tree of 31 sums has 2^31 operand orders; the constraint refuses each.
  int asked = 0;
  auto rule = [&asked](SourcePattern& src, ResultPattern& res) {
    int n = 0;
    std::function<Tensor(int)> tree = [&](int depth) -> Tensor {
      if (depth == 0) return src.Tensor("t" + std::to_string(n++));
      auto left = tree(depth - 1);
      return src.Op<Add>()(left, tree(depth - 1));
    };
    auto out = src.Op<Relu>()(tree(5));
    src.RequireNativeCall("never", [&asked](const MatchContext&) { return ++asked < 0; });
    res.Tensor(out) = src.Tensor("t0");
  };
  int n = 0;
  std::function<Value(int)> tree = [&](int depth) -> Value {
    if (depth == 0) return Input("i" + std::to_string(n++), {2, 3});
    const Value left = tree(depth - 1);
    return b.Make<Add>({left, tree(depth - 1)});
  };
  const Value out = b.Make<Relu>({tree(5)});
  b.Return({{"out", out}});
  EXPECT_FALSE(Matches(Rule(rule).Build(&context), out.DefiningOp()));
  EXPECT_GT(asked, 0);
  EXPECT_LE(asked, static_cast<int>(Matcher::kMaxSteps));
}

TEST_F(HardCases, OrdersThatCannotFitAreLeftAtAGlance) {
  // relu, tanh at the leaves say which order is right: found in about one step a node.
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    int n = 0;
    std::function<Tensor(int)> tree = [&](int depth) -> Tensor {
      if (depth == 0) return src.Tensor("t" + std::to_string(n++));
      auto left = src.Op<Relu>()(tree(depth - 1));
      return src.Op<Add>()(left, src.Op<Tanh>()(tree(depth - 1)));
    };
    auto out = src.Op<Sub>()(tree(6), src.Tensor("t0"));
    res.Tensor(out) = src.Tensor("t1");
  };
  std::vector<Value> leaves;
  std::function<Value(int)> tree = [&](int depth) -> Value {
    if (depth == 0) {
      leaves.push_back(Input("i" + std::to_string(leaves.size()), {2, 3}));
      return leaves.back();
    }
    const Value left = b.Make<Relu>({tree(depth - 1)});
    return b.Make<Add>({b.Make<Tanh>({tree(depth - 1)}), left});  // the other way round
  };
  const Value sum = tree(6);
  const Value out = b.Make<Sub>({sum, leaves[0]}), bad = b.Make<Sub>({sum, leaves[1]});
  b.Return({{"out", out}});
  EXPECT_EQ(Try(out.DefiningOp(), rule),
            "an intermediate value, result 0 of toy.add, is also used by toy.sub");
  ir::Rewriter(&program).Erase(bad.DefiningOp());
  EXPECT_EQ(Try(out.DefiningOp(), rule), "");
}

}  // namespace
}  // namespace weft::drr
