// Tests of the rules on the pd dialect: registered rules by name, and programs of pd ops.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "drr/engine/rule_set.h"
#include "ir/dialects/pd.h"
#include "passes/greedy_driver.h"
#include "passes/rule_registry.h"
#include "unittests/drr/engine/rewrite_test_util.h"

namespace weft::passes {

class PdRuleTest : public drr::RewriteTest {
 protected:
  PdRuleTest() { ir::LoadPdDialect(context); }

  // Tries the registered rule at op: "" when applied, else the reason.
  std::string Apply(std::string_view rule, ir::Operation op) {
    const RegisteredRule* found = FindRule(rule);
    if (!found) return "no such rule";
    return RewriteWith(found->build(&context), op);
  }
  // All rules of a group until none applies.
  GreedyRewriteResult RunGroup(std::string_view group) {
    drr::RewritePatternSet set(&context);
    for (const RegisteredRule& rule : RegisteredRules())
      if (rule.group == group) set.Add(rule.build(&context));
    EXPECT_THAT(set.errors(), testing::IsEmpty());
    const drr::FrozenRewritePatternSet frozen(std::move(set));
    const GreedyRewriteConfig config = {.verify_after_rewrite = true};
    auto result = ApplyPatternsGreedily(program, frozen, config);
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result.ok() ? *std::move(result) : GreedyRewriteResult();
  }

  ir::Value Full(const ir::Shape& shape, float value = 1) {
    return b.Make<ir::pd::Full>({}, {.shape = shape, .value = value});
  }
  ir::Value IntArray(const ir::Ints& value) {
    return b.Make<ir::pd::FullIntArray>({}, {.value = value});
  }
  ir::Value Transpose(ir::Value x, const ir::Ints& perm) {
    return b.Make<ir::pd::Transpose>({x}, {.perm = perm});
  }
  ir::Value Reshape(ir::Value x, const ir::Ints& shape) {
    return b.Create<ir::pd::Reshape>({x, IntArray(shape)}).result(0);
  }
  ir::Value Cast(ir::Value x, ir::DataType to) { return b.Make<ir::pd::Cast>({x}, {.dtype = to}); }
};

}  // namespace weft::passes
