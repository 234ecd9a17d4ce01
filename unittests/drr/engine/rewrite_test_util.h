// What tests of single rules share: a program under construction, one rule applied at one op.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "drr/drr.h"
#include "drr/engine/applier.h"
#include "drr/engine/matcher.h"
#include "ir/analysis/verifier.h"
#include "ir/builder.h"
#include "ir/rewriter.h"

namespace weft::drr {

class RewriteTest : public testing::Test {
 protected:
  RewriteTest() : program(&context), b(&program) {}

  // Called so, or, where another one is, with a number behind it.
  ir::Value Input(const std::string& name, const ir::Shape& dims,
                  ir::DataType dtype = ir::DataType::kF32) {
    const int same = inputs_[name]++;
    return b.AddInput(same == 0 ? name : name + std::to_string(same + 1),
                      context.TensorType(dtype, dims));
  }

  // An op whose results have the types given, whatever its Infer knows.
  template <class O>
  ir::Operation Create(std::vector<ir::Value> operands,
                       const typename O::template Attrs<ir::BuilderSlot>& attrs,
                       std::vector<ir::Type> types) {
    return b.Builder::Create({.opcode = ir::kOpcodeOf<O>,
                              .operands = std::move(operands),
                              .attrs = ir::MakeAttrs<O>(context, attrs),
                              .result_types = std::move(types)});
  }
  template <class O>
  ir::Value Make(std::vector<ir::Value> operands,
                 const typename O::template Attrs<ir::BuilderSlot>& attrs, const ir::Shape& dims,
                 ir::DataType dtype = ir::DataType::kF32) {
    return Create<O>(std::move(operands), attrs, {context.TensorType(dtype, dims)}).result(0);
  }

  // Matches and applies P at op: "" when applied, else the reason.
  template <class P>
  std::string Rewrite(ir::Operation op) {
    return RewriteWith(P().Build(&context), op);
  }
  std::string RewriteWith(const BuildResult& built, ir::Operation op) {
    for (const std::string& e : built.errors) ADD_FAILURE() << e;
    if (!built.ok()) return "does not build";
    MatchContext match(built.rule.get());
    MatchFailure failure;
    if (!Matcher(*built.rule).Match(op, &match, &failure)) return failure.reason;
    ir::Rewriter rewriter(&program);
    std::string reason;
    const uint32_t ops_before = program.num_operations();
    if (!Apply(match, rewriter, &reason)) {
      EXPECT_EQ(program.num_operations(), ops_before) << "declined, but the program has changed";
      return reason;
    }
    EXPECT_EQ(ir::Verify(program).message(), "");
    return "";
  }

  // What makes output i of the program.
  ir::Operation Output(uint32_t i) { return program.body().Terminator().operand(i).DefiningOp(); }

  ir::IrContext context;
  ir::Program program;
  ir::Builder b;

 private:
  std::map<std::string, int> inputs_;  // how many have the name
};

}  // namespace weft::drr
