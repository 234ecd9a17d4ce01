// The string spelling: Paddle's meaning, and what is found when a rule is built.
#include "drr/paddle/string_spelling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>

#include "ir/dialects/onnx.h"
#include "ir/dialects/pd.h"
#include "unittests/drr/engine/rewrite_test_util.h"

namespace weft::drr {
namespace {

namespace spelling = string_spelling;
namespace pd = ir::pd;
using ir::DataType;
using ir::Operation;
using ir::Value;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class StringSpelling : public RewriteTest {
 protected:
  StringSpelling() {
    ir::LoadPdDialect(context);
    ir::LoadOnnxDialect(context);
    x = Input("x", {2, 3});
  }
  // A rule whose body is `record`.
  struct Rule : spelling::DrrPatternBase<Rule> {
    void operator()(spelling::DrrPatternContext* ctx) const override { record(ctx); }
    static inline std::function<void(spelling::DrrPatternContext*)> record;
  };
  using Src = spelling::SourcePattern;
  using Res = spelling::ResultPattern;
  static void Is(std::function<void(Src&, Res&)> body) {
    Rule::record = [body](spelling::DrrPatternContext* ctx) {
      Src src = ctx->SourcePattern();
      Res res = src.ResultPattern();
      body(src, res);
    };
  }
  std::vector<std::string> Errors() { return Rule().Build(&context).errors; }
  Value Transpose(Value v, ir::Ints perm) {
    const ir::Shape d = v.type().shape();
    return Make<pd::Transpose>({v}, {.perm = perm}, {d[perm[0]], d[perm[1]]});
  }
  Value Relu(Value v) { return Make<pd::Relu>({v}, {}, v.type().shape()); }
  // softmax(x) {axis} => tanh(x) under one condition, tried where axis is 300: "" when applied.
  std::string Native(std::function<bool(const spelling::MatchContext&)> condition) {
    Is([condition](Src& src, Res& res) {
      src.Tensor("out") = src.Op("pd.softmax", {{"axis", src.Attr("axis")}})(src.Tensor("x"));
      src.RequireNativeCall("it holds", condition);
      res.Tensor("out") = res.Op("pd.tanh")(res.Tensor("x"));
    });
    const Value s = Make<pd::Softmax>({x}, {.axis = 300}, {2, 3});
    Relu(s);
    const std::string reason = Rewrite<Rule>(s.DefiningOp());
    const std::string expected = "does not hold: it holds: ";
    return reason.starts_with(expected) ? reason.substr(expected.size()) : reason;
  }

  Value x;
};
using Match = spelling::MatchContext;

// relu(x) => tanh(x), for tests of one thing more
void ReluToTanh(spelling::SourcePattern& src, spelling::ResultPattern& res) {
  src.Tensor("out") = src.Op("pd.relu")(src.Tensor("x"));
  res.Tensor("out") = res.Op("pd.tanh")(res.Tensor("x"));
}

TEST_F(StringSpelling, AMisspeltOpIsAnErrorWithASuggestion) {
  Is([](Src& src, Res& res) {
    src.Tensor("out") = src.Op("pd.transpos", {{"perm", src.Attr("p")}})(src.Tensor("x"));
    res.Tensor("out") = res.Op("pd.rellu")(res.Tensor("x"));
  });
  EXPECT_THAT(Errors(),
              ElementsAre(AllOf(HasSubstr("string_spelling_test.cc:"), HasSubstr("[rule]"),
                                HasSubstr("no op is named 'pd.transpos'; did you mean "
                                          "'pd.transpose'?")),
                          HasSubstr("no op is named 'pd.rellu'; did you mean 'pd.relu'?")));
}

TEST_F(StringSpelling, AMisspeltAttributeIsAnErrorWithASuggestion) {
  Is([](Src& src, Res& res) {
    src.Tensor("out") = src.Op("pd.transpose", {{"prem", src.Attr("p")}})(src.Tensor("x"));
    res.Tensor("out") =
        res.Op("pd.softmax", {{"axs", res.Attr([](const auto&) { return 1; })}})(res.Tensor("x"));
  });
  EXPECT_THAT(Errors(),
              ElementsAre(HasSubstr("pd.transpose has no attribute 'prem'; did you mean 'perm'?"),
                          HasSubstr("pd.softmax has no attribute 'axs'; did you mean 'axis'?")));
}

TEST_F(StringSpelling, AMisspeltTensorOfTheResultIsAnErrorWithASuggestion) {
  Is([](Src& src, Res& res) {
    src.Tensor("out") = src.Op("pd.relu")(src.Tensor("input"));
    res.Tensor("out") = res.Op("pd.tanh")(res.Tensor("inptu"));
  });
  EXPECT_THAT(Errors(), testing::Contains(HasSubstr(
                            "'inptu' is neither a tensor of the source pattern nor defined by the "
                            "result pattern; did you mean 'input'?")));
}

TEST_F(StringSpelling, ACopiedVariableMustBeBound) {
  Is([](Src& src, Res& res) {
    src.Tensor("out") = src.Op("pd.transpose", {{"perm", src.Attr("perm_1")}})(src.Tensor("x"));
    res.Tensor("out") = res.Op("pd.transpose", {{"perm", res.Attr("perm_2")}})(res.Tensor("x"));
  });
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("copies 'perm_2', which no source op binds; did you "
                                              "mean 'perm_1'?")));
}

TEST_F(StringSpelling, OperandsAreCounted) {
  Is([](Src& src, Res& res) {
    src.Tensor("out") = src.Op("pd.add")(src.Tensor("x"));
    res.Tensor("out") = res.Op("pd.relu")(res.Tensor("x"), res.Tensor("x"));
  });
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("pd.add takes (x, y) but is given 1 operand"),
                                    HasSubstr("pd.relu takes (x) but is given 2 operands")));
}

TEST_F(StringSpelling, AnOperandLeftOutOfTheResultIsAnError) {
  Is([](Src& src, Res& res) {
    src.Tensor("out") = src.Op("pd.relu")(src.Tensor("x"));
    res.Tensor("out") = res.Op("pd.reshape")(res.Tensor("x"));
  });
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("operand 'shape' of pd.reshape is not given")));
}

TEST_F(StringSpelling, NoneForARequiredOperandIsAnError) {
  Is([](Src& src, Res& res) {
    src.Tensor("out") = src.Op("pd.relu")(src.Tensor("x"));
    res.Tensor("out") = res.Op("pd.add")(res.Tensor("x"), res.NonTensor());
  });
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("operand 'y' of pd.add is required but None()")));
}

TEST_F(StringSpelling, ANameIsDefinedOnce) {
  Is([](Src& src, Res& res) {
    src.Tensor("mid") = src.Op("pd.relu")(src.Tensor("x"));
    src.Tensor("mid") = src.Op("pd.tanh")(src.Tensor("x"));
    src.Tensor("out") = src.Op("pd.relu")(src.Tensor("mid"));
    res.Tensor("out") = res.Op("pd.tanh")(res.Tensor("x"));
    res.Tensor("out") = res.Op("pd.relu")(res.Tensor("x"));
  });
  EXPECT_THAT(Errors(), AllOf(testing::Contains(HasSubstr("'mid' is defined twice")),
                              testing::Contains(HasSubstr("'out' is defined twice"))));
}

TEST_F(StringSpelling, RingsAreErrors) {
  Is([](Src& src, Res& res) {
    src.Tensor("a") = src.Op("pd.relu")(src.Tensor("b"));
    src.Tensor("b") = src.Op("pd.tanh")(src.Tensor("a"));
    src.Tensor("out") = src.Op("pd.relu")(src.Tensor("a"));
    res.Tensor("c") = res.Op("pd.relu")(res.Tensor("d"));
    res.Tensor("d") = res.Op("pd.tanh")(res.Tensor("c"));
    res.Tensor("out") = res.Op("pd.relu")(res.Tensor("d"));
  });
  EXPECT_THAT(Errors(), AllOf(testing::Contains(HasSubstr("source op pd.relu reads its own")),
                              testing::Contains(HasSubstr("result op pd.relu reads its own"))));
}

TEST_F(StringSpelling, AnOperandOfAnotherDialectIsNoAttribute) {
  Is([](Src& src, Res& res) {
    src.Tensor("out") = src.Op("onnx.Relu")(src.Tensor("x"));
    const auto& shape = res.Attr([](const Match&) { return ir::Ints{6}; });
    res.Tensor("out") = res.Op("onnx.Reshape", {{"shape", shape}})(res.Tensor("x"));
  });
  EXPECT_THAT(Errors(),
              testing::Contains(HasSubstr("'shape' of onnx.Reshape is an operand; pass a tensor")));
}

TEST_F(StringSpelling, WhatNobodyUsesIsAWarning) {
  Is([](Src& src, Res& res) {
    ReluToTanh(src, res);
    src.Tensor("forgotten");
    res.Op("pd.relu")(res.Tensor("x"));
  });
  const BuildResult built = Rule().Build(&context);
  EXPECT_TRUE(built.ok()) << testing::PrintToString(built.errors);
  EXPECT_THAT(built.warnings,
              ElementsAre(HasSubstr("warning: [rule] tensor 'forgotten' is not an operand"),
                          HasSubstr("no result of pd.relu is used")));
  const Value r = Relu(x);
  b.Return({{"out", r}});
  EXPECT_EQ(Rewrite<Rule>(r.DefiningOp()), "");
  EXPECT_TRUE(Output(0).Is<pd::Tanh>());
  EXPECT_EQ(program.body().num_ops(), 2u);  // the unused result op is not built
}

TEST_F(StringSpelling, SilenceOnAnAttributeMeansAnything) {
  Is([](Src& src, Res& res) {
    src.Tensor("out") = src.Op("pd.softmax")(src.Tensor("x"));
    res.Tensor("out") = res.Op("pd.tanh")(res.Tensor("x"));
  });
  const Value s = Make<pd::Softmax>({x}, {.axis = 0}, {2, 3});  // the default is -1
  b.Return({{"out", s}});
  EXPECT_EQ(Rewrite<Rule>(s.DefiningOp()), "");
}

TEST_F(StringSpelling, OneVariableBoundTwiceIsOneValue) {
  Is([](Src& src, Res& res) {
    const auto& inner = src.Op("pd.transpose", {{"perm", src.Attr("p")}});
    const auto& outer = src.Op("pd.transpose", {{"perm", src.Attr("p")}});
    src.Tensor("out") = outer(inner(src.Tensor("x")));
    res.Tensor("out") = res.Tensor("x");
  });
  const Value same = Transpose(Transpose(x, {1, 0}), {1, 0});
  const Value other = Transpose(Transpose(x, {1, 0}), {0, 1});
  b.Return({{"a", same}, {"b", other}});
  EXPECT_EQ(Rewrite<Rule>(other.DefiningOp()),
            "attribute perm of pd.transpose is array[1,0], but $p was bound to array[0,1] by "
            "pd.transpose");
  EXPECT_EQ(Rewrite<Rule>(same.DefiningOp()), "");
  EXPECT_EQ(program.body().Terminator().operand(0), x);
}

TEST_F(StringSpelling, NamesMayBeUsedBeforeTheyAreDefined) {
  Is([](Src& src, Res& res) {
    src.Tensor("out") = src.Op("pd.relu")(src.Tensor("mid"));
    src.Op("pd.tanh")({&src.Tensor("x")}, {&src.Tensor("mid")});
    res.Tensor("out") = res.Op("pd.relu")(res.Tensor("new"));
    res.Op("pd.sigmoid")({&res.Tensor("x")}, {&res.Tensor("new")});
  });
  const Value out = Relu(Make<pd::Tanh>({x}, {}, {2, 3}));
  b.Return({{"out", out}});
  ASSERT_EQ(Rewrite<Rule>(out.DefiningOp()), "");
  EXPECT_TRUE(Output(0).operand(0).DefiningOp().Is<pd::Sigmoid>());
}

TEST_F(StringSpelling, AnIntegerAttributeThatNamesAnOperandBecomesAFull) {
  Is([](Src& src, Res& res) {
    src.Tensor("out") = src.Op("pd.relu")(src.Tensor("x"));
    const auto& joined = res.Op("builtin.combine")(res.Tensor("x"), res.Tensor("x"));
    const auto& one = res.Attr([](const Match&) { return 1; });
    res.Tensor("out") = res.Op("pd.concat", {{"axis", one}})(joined);
  });
  const Value r = Make<pd::Relu>({x}, {}, {2, 6});  // as wide as the result
  b.Return({{"out", r}});
  ASSERT_EQ(Rewrite<Rule>(r.DefiningOp()), "");
  const auto axis = Output(0).operand(1).DefiningOp().attrs_of<pd::Full>();
  EXPECT_EQ(axis.value, 1.0f);
  EXPECT_EQ(axis.dtype, DataType::kI32);
  EXPECT_EQ(axis.shape, Ints{1});
}

TEST_F(StringSpelling, ACopiedListThatNamesAnOperandBecomesAFullIntArray) {
  Is([](Src& src, Res& res) {
    src.Tensor("out") = src.Op("pd.transpose", {{"perm", src.Attr("p")}})(src.Tensor("x"));
    res.Op("pd.reshape", {{"shape", res.Attr("p")}})({&res.Tensor("x")},
                                                     {&res.Tensor("out"), &res.NoneTensor()});
  });
  const Value t = Make<pd::Transpose>({x}, {.perm = {3, 2}}, {3, 2});  // any list will do
  b.Return({{"out", t}});
  ASSERT_EQ(Rewrite<Rule>(t.DefiningOp()), "");
  const Operation reshape = Output(0);
  EXPECT_EQ(reshape.num_results(), 2u);
  const auto shape = reshape.operand(1).DefiningOp().attrs_of<pd::FullIntArray>();
  EXPECT_EQ(shape.value, (Ints{3, 2}));
  EXPECT_EQ(shape.dtype, DataType::kI64);
}

TEST_F(StringSpelling, IntegersConvertWhereTheyFit) {
  EXPECT_EQ(Native([](const Match& m) { return m.Attr<int>("axis") == 300; }), "");
  EXPECT_EQ(Native([](const Match& m) { return m.Attr<int64_t>("axis") == 300; }), "");
  EXPECT_EQ(Native([](const Match& m) { return m.Attr<float>("axis") == 300.0f; }), "");
  EXPECT_EQ(Native([](const Match& m) { return m.Attr<int8_t>("axis") == 0; }),
            "attribute 'axis' is no number that fits");
}

TEST_F(StringSpelling, AskingForWhatIsNotThereDeclines) {
  EXPECT_EQ(Native([](const Match& m) { return m.Attr<int>("axs") == 0; }),
            "no source op binds attribute 'axs'; did you mean 'axis'?");
  EXPECT_EQ(Native([](const Match& m) { return m.Tensor("y").Shape().empty(); }),
            "the source pattern has no tensor 'y'; did you mean 'x'?");
  EXPECT_EQ(Native([](const Match& m) { return m.Attr<std::vector<int>>("axis").empty(); }),
            "attribute 'axis' is no list of integers");
  EXPECT_EQ(Native([](const Match& m) { return !m.Attr<bool>("axis"); }),
            "attribute 'axis' is no bool");
  EXPECT_EQ(Native([](const Match& m) { return m.Attr<std::string>("axis").empty(); }),
            "attribute 'axis' is no string");
}

TEST_F(StringSpelling, AnExceptionOfARuleDeclines) {
  EXPECT_EQ(Native([](const Match& m) { return m.Tensor("x").Shape().at(1) == 3; }), "");
  EXPECT_EQ(Native([](const Match&) -> bool { throw std::runtime_error("no idea"); }),
            "its function throws no idea");
}

TEST_F(StringSpelling, AShapeThatIsNotKnownDeclines) {
  Is([](Src& src, Res& res) {
    ReluToTanh(src, res);
    src.RequireNativeCall([](const Match& m) { return m.Tensor("x").Shape().empty(); });
  });
  const Value u = b.AddInput("u", context.UnrankedTensorType(DataType::kF32));
  const Value r = Make<pd::Relu>({u}, {}, {2, 3});
  b.Return({{"out", r}});
  EXPECT_THAT(Rewrite<Rule>(r.DefiningOp()), HasSubstr("the shape of 'x' is not known"));
}

TEST_F(StringSpelling, UnknownAndSymbolicDimsReadAsMinusOne) {
  Is([](Src& src, Res& res) {
    ReluToTanh(src, res);
    src.RequireNativeCall([](const Match& m) {
      return m.Tensor("x").Shape() == std::vector<int64_t>{-1, -1, 3};
    });
  });
  const Value u = Input("u", {ir::SymbolicDim("batch"), ir::kUnknownDim, 3});
  const Value r = Make<pd::Relu>({u}, {}, u.type().shape());
  b.Return({{"out", r}});
  EXPECT_EQ(Rewrite<Rule>(r.DefiningOp()), "");
}

TEST_F(StringSpelling, AResultAttributeThatCannotBeComputedDeclines) {
  Is([](Src& src, Res& res) {
    src.Tensor("out") = src.Op("pd.relu")(src.Tensor("x"));
    const auto& axis = res.Attr([](const Match& m) -> int { return m.Tensor("x").Shape().at(7); });
    res.Tensor("out") = res.Op("pd.softmax", {{"axis", axis}})(res.Tensor("x"));
  });
  const Value r = Relu(x);
  b.Return({{"out", r}});
  EXPECT_THAT(Rewrite<Rule>(r.DefiningOp()),
              HasSubstr("attribute axis of pd.softmax cannot be computed: its function throws"));
  EXPECT_TRUE(Output(0).Is<pd::Relu>());
}

TEST_F(StringSpelling, RuleNamesComeFromClassNames) {
  namespace names = string_spelling::internal;
  EXPECT_EQ(names::RuleName("std::string f() [with T = {anonymous}::FuseAdd; std::string = x]"),
            "fuse-add");
  EXPECT_EQ(names::RuleName("std::string f() [T = a::(anonymous namespace)::Fuse2Pattern]"),
            "fuse2");
}

}  // namespace
}  // namespace weft::drr
