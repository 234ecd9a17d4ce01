// t = t * z + t * w, many times over: the expression doubles with every step, and so do the operand
// orders in which it may match. What is proved of it, or refused, must be so in a moment.
#include <ctime>

#include "drr/engine/rule_engine.h"
#include "ir/dialects/onnx.h"
#include "ir/graph_view.h"
#include "unittests/drr/text/text_rule_test_util.h"

namespace weft::drr::text {
namespace {

namespace ops = ir::ops;
using ir::Value;
using testing::HasSubstr;

class ProductsOfSums : public TextRuleTest {
 protected:
  // `depth` steps; each with its own z and w, or all with one.
  void Build(int depth, bool own_factors) {
    program = std::make_unique<ir::Program>(&context);
    ir::Builder b(program.get());
    const ir::Type type = context.TensorType(ir::DataType::kF32, {4});
    Value t = b.AddInput("x", type), z, w;
    for (int i = 0; i < depth; ++i) {
      if (i == 0 || own_factors) {
        z = b.AddInput("z" + std::to_string(i), type);
        w = b.AddInput("w" + std::to_string(i), type);
      }
      t = b.Make<ops::Add>({b.Make<ops::Mul>({t, z}), b.Make<ops::Mul>({t, w})});
    }
    b.Return({{"y", t}});
  }

  // A mapping dict of the chain, which becomes gelu(x).
  static std::string Dict(int depth) {
    std::string spine, sides;
    for (int i = 0; i < depth; ++i) {
      const auto node = [&](int k, const char* type) {
        return "(" + std::to_string(3 * i + k) + ", '" + type + "'), ";
      };
      spine += node(0, "Mul") + node(2, "Add");
      sides += ", [" + (i == 0 ? "(), " : node(-1, "Add")) + node(1, "Mul") + node(2, "Add") + "]";
    }
    return "{'patterns': {'in': [[" + spine + "]" + sides +
           "], 'out': [[(0, 'Gelu')]]},\n"
           "'input_tensors': {0: [[{0: [0]}], [[0], 1]]},\n"
           "'output_tensors': {0: [[{" +
           std::to_string(3 * depth - 1) + ": [0]}], [[0], 1]]}}";
  }

  // The chain in text, which becomes x * (z + w) * (z + w) ..., with `last` in place of the last sum's op.
  static std::string Text(int depth, bool own_factors, const std::string& last = "onnx.Add") {
    std::string source, result;
    for (int i = 0; i < depth; ++i) {
      const std::string n = std::to_string(own_factors ? i : 0), k = std::to_string(i);
      const std::string t = i == 0 ? "x" : "t" + std::to_string(i - 1);
      source += " %a" + k + " = onnx.Mul(%" + t + ", %z" + n + ") %b" + k + " = onnx.Mul(%" + t +
                ", %w" + n + ") %t" + k + " = onnx.Add(%a" + k + ", %b" + k + ")\n";
      result += " !s" + k + " = " + (i + 1 == depth ? last : "onnx.Add") + "(%z" + n + ", %w" + n +
                ") !t" + k + " = onnx.Mul(" + (i == 0 ? "%x" : "!" + t) + ", !s" + k + ")\n";
    }
    return "rule r {\nsource {\n" + source +
           "}\nrequire \"the result is the same\" computes_result()\n" + "result {\n" + result +
           "}\nreplace %t" + std::to_string(depth - 1) + " with !t" + std::to_string(depth - 1) +
           "\n}\n";
  }

  // "" when the rule matches, or why it does not; by both engines, of which each takes its moment.
  std::string WhyNot(const std::string& rules) {
    const RuleFile file = Read(rules);
    for (const std::string& error : file.errors) return error;
    const ir::Operation root = program->body().Terminator().operand(0).DefiningOp();
    const std::clock_t start = std::clock();
    PlainMatch shared;
    RuleEngine engine(*file.rules[0], &shared);
    EXPECT_TRUE(PlainMatcher::Supports(*file.rules[0]));
    const bool fast = engine.Match(ir::GraphView(program.get()), root.id());
    const std::clock_t between = std::clock();
    MatchContext match(file.rules[0].get());
    MatchFailure failure;
    const bool general = Matcher(*file.rules[0]).Match(root, &match, &failure);
    EXPECT_EQ(fast, general) << failure.reason;
    const std::clock_t ticks = std::max(between - start, std::clock() - between);
    seconds = static_cast<double>(ticks) / CLOCKS_PER_SEC;
    EXPECT_LT(seconds, kMaxSeconds);
    return general ? "" : failure.reason;
  }

  static constexpr double kMaxSeconds = 10;  // a tenth of it, but for sanitizers
  double seconds = 0;
};

TEST_F(ProductsOfSums, ThatAreNoGeluAreRefusedInAMoment) {
  for (const bool own_factors : {false, true})
    for (const int depth : {1, 5, 9, 20, 66}) {
      SCOPED_TRACE(testing::Message() << depth << (own_factors ? " own factors" : ""));
      Build(depth, own_factors);
      EXPECT_THAT(WhyNot(Dict(depth)), HasSubstr("the match computes"));
      RecordProperty("seconds", std::to_string(seconds));
    }
}

TEST_F(ProductsOfSums, ADictOfMoreNodesThanAreReadSaysSo) {
  Build(100, false);
  EXPECT_THAT(WhyNot(Dict(100)), HasSubstr("more than 200 nodes"));
}

TEST_F(ProductsOfSums, AreProvedWhereEqualMonomialsKeepThemShort) {
  for (const int depth : {1, 5, 9, 20, 100}) {
    SCOPED_TRACE(depth);
    Build(depth, false);
    EXPECT_EQ(WhyNot(Text(depth, false)), "");
    EXPECT_THAT(WhyNot(Text(depth, false, "onnx.Sub")), HasSubstr("the match computes"));
  }
}

TEST_F(ProductsOfSums, AreProvedUpToTheBudgetOfMonomials) {
  for (const int depth : {1, 5, 9}) {
    SCOPED_TRACE(depth);
    Build(depth, true);
    EXPECT_EQ(WhyNot(Text(depth, true)), "");
    EXPECT_THAT(WhyNot(Text(depth, true, "onnx.Sub")), HasSubstr("the match computes"));
  }
}

TEST_F(ProductsOfSums, BeyondTheBudgetTheRefusalNamesIt) {
  for (const int depth : {20, 100}) {
    SCOPED_TRACE(depth);
    Build(depth, true);
    EXPECT_THAT(WhyNot(Text(depth, true)),
                HasSubstr("products of more than 1000 monomials are not multiplied out"));
  }
  Build(120, false);
  EXPECT_THAT(WhyNot(Text(120, false)), HasSubstr("ops 200 deep"));
}

}  // namespace
}  // namespace weft::drr::text
