// A rule is built, and frozen, with weft-drr alone.
#include <cstdio>

#include "drr/engine/rule_set.h"
#include "merge_gains.h"

int main() {
  weft::ir::IrContext context;
  weft::ir::AddOps<gain::Scale>(context);
  weft::drr::RewritePatternSet set(&context);
  set.Add<gain::MergeGains>();
  const weft::drr::FrozenRewritePatternSet rules(std::move(set));
  if (rules.rules().size() != 1) return std::puts("no rule"), 1;
  return 0;
}
