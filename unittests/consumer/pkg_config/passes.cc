// Applies the rule and looks for Weft's own rules. Exits with 0 or a
// reason.
#include <cstdio>

#include "ir/builder.h"
#include "merge_gains.h"
#include "passes/greedy_driver.h"
#include "passes/rule_registry.h"

int main() {
  weft::ir::IrContext context;
  weft::ir::AddOps<gain::Scale>(context);
  weft::ir::Program program(&context);
  weft::ir::Builder b(&program);
  weft::ir::Value v = b.AddInput("x", context.TensorType(weft::ir::DataType::kF32, {2}));
  for (float factor : {2.0f, 3.0f, 0.5f}) v = b.Make<gain::Scale>({v}, {.factor = factor});
  b.Return({{"y", v}});

  weft::drr::RewritePatternSet set(&context);
  set.Add<gain::MergeGains>();
  const weft::drr::FrozenRewritePatternSet rules(std::move(set));
  const auto result = weft::passes::ApplyPatternsGreedily(program, rules);
  if (!result.ok() || result->rules[0].applied != 2) return std::puts("not applied twice"), 1;
  const weft::ir::Operation y = program.body().Terminator().operand(0).DefiningOp();
  if (y.attrs_of<gain::Scale>().factor != 3.0f) return std::puts("a wrong factor"), 1;
  if (!weft::passes::FindRule("merge-transposes")) return std::puts("no rules of Weft"), 1;
  return 0;
}
