// Patterns that look into a region or out of one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/drr/cpp/language_test_util.h"

namespace weft::drr {
namespace {

using ir::Operation;
using ir::Value;
using toy::Log;
using toy::Norm;
using toy::Relu;
using toy::Scale;
using toy::Sub;
using toy::Tanh;

class Regions : public Language {
 protected:
  // An op with one region; what it holds is made by `body`, which gives what the region returns.
  Operation Branch(const std::function<Value(ir::Builder&)>& body,
                   std::string_view name = "toy.if") {
    const Operation holder = b.Builder::Create({.opcode = ir::Opcode::FindOrAdd(name),
                                                .operands = {z},
                                                .result_types = {x.type()},
                                                .num_regions = 1});
    ir::Rewriter rewriter(&program);
    ir::Builder inside(&program);
    inside.SetInsertionPointToEnd(rewriter.AppendBlock(holder.region(0)));
    const Value returned = body(inside);
    inside.Create<ir::ReturnOp>({returned});
    return holder;
  }
  Operation Returned(Operation holder) {
    return holder.region(0).front().Terminator().operand(0).DefiningOp();
  }
};

TEST_F(Regions, AnOperandMayBeMadeOutside) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto out = src.Op<Relu>()(src.Outside(src.Op<Tanh>()(src.Op<Scale>()(x))));
    res.Tensor(out) = res.Op<Norm>({.axis = 0})(x);
  };
  auto inside_only = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto out = src.Op<Relu>()(src.Op<Tanh>()(src.Op<Scale>()(x)));
    res.Tensor(out) = res.Op<Norm>({.axis = 0})(x);
  };
  const Value t = b.Make<Tanh>({b.Make<Scale>({x})});
  const Operation holder = Branch([&](ir::Builder& in) { return in.Make<Relu>({t}); });
  b.Return({{"out", holder.result()}});
  EXPECT_EQ(Try(Returned(holder), inside_only), "toy.tanh lies in another block");
  EXPECT_EQ(Try(Returned(holder), rule), "");
  EXPECT_TRUE(Returned(holder).Is<Norm>());
  EXPECT_EQ(Returned(holder).operand(0), x);
  EXPECT_FALSE(t.IsAlive());
}

TEST_F(Regions, OfANeighbourAreNotOutside) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto out = src.Op<Relu>()(src.Outside(src.Op<Tanh>()(src.Op<Scale>()(x))));
    res.Tensor(out) = res.Op<Norm>({.axis = 0})(x);
  };
  // The scale lies deeper than the tanh that would read it: the pattern wants them together.
  const Value s = b.Make<Scale>({x});
  Value inner;
  const Operation holder = Branch([&](ir::Builder& in) {
    inner = in.Make<Relu>({in.Make<Tanh>({s})});
    return inner;
  });
  b.Return({{"out", holder.result()}});
  EXPECT_EQ(Try(inner.DefiningOp(), rule), "toy.scale lies in another block");
}

// if(c) { norm(x, 0) } => norm(x, 5) - c
void BranchOfNorm(SourcePattern& src, ResultPattern& res) {
  auto x = src.Tensor("x"), c = src.Tensor("c");
  auto branch = src.AnyOp("toy.if");
  auto out = branch(c);
  src.Returns(branch, 0, {src.Op<Norm>({.axis = 0})(x)});
  res.Tensor(out) = res.Op<Sub>()(res.Op<Norm>({.axis = 5})(x), c);
}

TEST_F(Regions, WhatARegionReturnsIsMatched) {
  const Operation good = Branch([&](ir::Builder& in) { return in.Make<Norm>({y}, {.axis = 0}); });
  const Operation other = Branch([&](ir::Builder& in) { return in.Make<Norm>({y}, {.axis = 1}); });
  const Operation name =
      Branch([&](ir::Builder& in) { return in.Make<Norm>({y}, {.axis = 0}); }, "toy.loop");
  b.Return({{"a", good.result()}, {"b", other.result()}, {"c", name.result()}});
  EXPECT_EQ(Try(good, BranchOfNorm), "");
  EXPECT_TRUE(Output(0).Is<Sub>());
  EXPECT_EQ(Output(0).operand(1), z);
  EXPECT_EQ(Output(0).operand(0).DefiningOp().operand(0), y);
  EXPECT_FALSE(good.IsAlive());
  EXPECT_EQ(Try(other, BranchOfNorm), "attribute axis of toy.norm is not what the rule wants");
  EXPECT_EQ(Try(name, BranchOfNorm), "expected toy.if but found toy.loop");
}

TEST_F(Regions, AValueOfARegionCannotBeUsedOutsideIt) {
  const Operation holder =
      Branch([&](ir::Builder& in) { return in.Make<Norm>({in.Make<Tanh>({x})}, {.axis = 0}); });
  b.Return({{"out", holder.result()}});
  EXPECT_EQ(Try(holder, BranchOfNorm), "a value of a region is used outside it");
}

TEST_F(Regions, WithAnEffectAreNotReplaced) {
  const Operation holder = Branch([&](ir::Builder& in) {
    in.Make<Log>({x});
    return in.Make<Norm>({x}, {.axis = 0});
  });
  b.Return({{"out", holder.result()}});
  EXPECT_EQ(Try(holder, BranchOfNorm), "toy.log in a region of toy.if is not pure");
}

TEST_F(Regions, TheNumberOfReturnedValuesMustBeRight) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto c = src.Tensor("c"), x = src.Tensor("x");
    auto branch = src.AnyOp("toy.if");
    auto out = branch(c);
    src.Returns(branch, 0, {src.None(), src.Op<Norm>({.axis = 0})(x)});
    res.Tensor(out) = x;
  };
  const Operation holder = Branch([&](ir::Builder& in) { return in.Make<Norm>({x}, {.axis = 0}); });
  b.Return({{"out", holder.result()}});
  EXPECT_EQ(Try(holder, rule), "region 0 of toy.if returns 1 values but the rule names 2");
}

}  // namespace
}  // namespace weft::drr
