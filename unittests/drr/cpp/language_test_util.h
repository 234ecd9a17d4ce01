// What tests of the rule language share: three inputs of one shape, and rules written in place.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "unittests/drr/engine/rewrite_test_util.h"
#include "unittests/drr/engine/toy_ops.h"

namespace weft::drr {

class Language : public RewriteTest {
 protected:
  Language() {
    toy::Load(context);
    x = Input("x", {2, 3});
    y = Input("y", {2, 3});
    z = Input("z", {2, 3});
  }
  // Tries the rule that `body` writes at `op`: "" when applied, else the reason.
  using Body = std::function<void(SourcePattern&, ResultPattern&)>;
  struct Rule : DrrPatternBase<Rule> {
    static constexpr std::string_view kName = "rule";
    explicit Rule(Body b) : body(std::move(b)) {}
    void operator()(DrrPatternContext* ctx) const override {
      SourcePattern src = ctx->SourcePattern();
      ResultPattern res = src.ResultPattern();
      body(src, res);
    }
    Body body;
  };
  std::string Try(ir::Operation op, const Body& body) {
    return RewriteWith(Rule(body).Build(&context), op);
  }
  // An op with just these attributes: defaults are not written out.
  template <class O>
  ir::Value Bare(std::vector<ir::Value> operands, std::vector<ir::NamedAttribute> attrs) {
    const ir::Type type = operands[0].type();
    return b
        .Builder::Create({.opcode = ir::kOpcodeOf<O>,
                          .operands = std::move(operands),
                          .attrs = context.Dict(std::move(attrs)),
                          .result_types = {type}})
        .result(0);
  }
  std::vector<std::string> Errors(const Body& body) { return Rule(body).Build(&context).errors; }

  ir::Value x, y, z;
};

}  // namespace weft::drr
