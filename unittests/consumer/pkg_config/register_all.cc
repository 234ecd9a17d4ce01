// Links the static libraries as they are named, nothing more, and finds all that registers itself: what this
// program uses of them is RegisterAll() alone, and the registries.
#include <kernels/runtime/registry.h>
#include <passes/pass_registry.h>
#include <passes/rule_registry.h>
#include <weft/weft.h>

#include <cstdio>

int main() {
  const absl::Status status = weft::RegisterAll();
  const size_t rules = weft::passes::RegisteredRules().size();
  const size_t kernels = weft::kernels::RegisteredKernels().size();
  std::printf("%s: %zu rules, %zu kernels\n", status.ok() ? "all" : "not all", rules, kernels);
  return status.ok() && weft::passes::FindRule("drop-unit-factor") && rules > 200 && kernels > 200
             ? 0
             : 1;
}
