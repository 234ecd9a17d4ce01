#include "ir/dialects/op_registry.h"

#include <vector>

namespace weft::ir {
namespace {

std::vector<void (*)(IrContext&)>& OpSets() {
  static auto* sets = new std::vector<void (*)(IrContext&)>;
  return *sets;
}

}  // namespace

namespace internal {
bool AddOpSet(void (*add)(IrContext& context)) {
  OpSets().push_back(add);
  return true;
}
}  // namespace internal

void LoadRegisteredOps(IrContext& context) {
  for (const auto add : OpSets()) add(context);
}

size_t NumRegisteredOpSets() { return OpSets().size(); }

}  // namespace weft::ir
