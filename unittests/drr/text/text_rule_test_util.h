// What tests of rules from text share: a program in text, the rules of a file applied to it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "drr/engine/applier.h"
#include "drr/engine/matcher.h"
#include "drr/rule_file.h"
#include "ir/analysis/verifier.h"
#include "ir/dialects/fused.h"
#include "ir/rewriter.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/walk.h"

namespace weft::drr::text {

class TextRuleTest : public testing::Test {
 protected:
  TextRuleTest() { ir::LoadFusedDialect(context); }

  void Parse(std::string_view text) {
    auto parsed = ir::ParseProgram(context, text);
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    program = std::move(*parsed);
    ASSERT_TRUE(ir::Verify(*program).ok()) << ir::Verify(*program).message();
  }

  RuleFile Read(std::string_view text) {
    return ReadRules(text, "rules.py", &context, program.get());
  }
  // The one mistake in `text`.
  std::string Mistake(std::string_view text) {
    const RuleFile file = Read(text);
    EXPECT_EQ(file.errors.size(), 1u) << testing::PrintToString(file.errors);
    EXPECT_TRUE(file.rules.empty());
    return file.errors.empty() ? "" : file.errors[0];
  }

  // Applies the rules, in order, at every operation from the last to the first, once each: how
  // often that worked. `reason` is why the first rule did not apply at the last operation.
  size_t Apply(const RuleFile& file) {
    for (const std::string& error : file.errors) ADD_FAILURE() << error;
    size_t applied = 0;
    std::vector<ir::Operation> ops;
    ir::Walk(*program, [&](ir::Operation op) { ops.push_back(op); });
    MatchFailure nearest;
    for (auto op = ops.rbegin(); op != ops.rend(); ++op)
      for (const std::unique_ptr<Rule>& rule : file.rules) {
        if (!op->IsAlive()) break;
        MatchContext match(rule.get());
        MatchFailure failure;
        ir::Rewriter rewriter(program.get());
        if (!Matcher(*rule).Match(*op, &match, &failure)) {
          if (failure.progress >= nearest.progress) nearest = failure;
          continue;
        }
        reason.clear();
        if (drr::Apply(match, rewriter, &reason)) ++applied;
        EXPECT_TRUE(ir::Verify(*program).ok()) << ir::Verify(*program).message();
      }
    if (applied == 0 && reason.empty()) reason = nearest.reason;
    return applied;
  }
  size_t ApplyText(std::string_view text) { return Apply(Read(text)); }

  size_t Count(std::string_view op_name) {
    size_t count = 0;
    ir::Walk(*program, [&](ir::Operation op) { count += op.name() == op_name; });
    return count;
  }
  std::string Print() { return ir::PrintProgram(*program, {.locations = true}); }

  ir::IrContext context;
  std::unique_ptr<ir::Program> program;
  std::string reason;
};

}  // namespace weft::drr::text
