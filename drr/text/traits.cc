#include "drr/text/internal/traits.h"

#include <utility>

#include "ir/op_def.h"

namespace weft::drr::text {
namespace {

constexpr std::pair<std::string_view, uint32_t> kTraits[] = {
    {"pure", ir::kPure},
    {"commutative", ir::kCommutative},
    {"elementwise", ir::kElementwise},
    {"terminator", ir::kTerminator},
    {"constant_like", ir::kConstantLike},
    {"inplace", ir::kInplace},
    {"read_only", ir::kReadOnly},
    {"value_semantics", ir::kValueSemantics},
    {"random", ir::kRandom},
    {"isolated", ir::kIsolated},
};

}  // namespace

std::string TraitNames(uint32_t traits) {
  std::string names;
  for (const auto& trait : kTraits) {
    if (!(traits & trait.second)) continue;
    if (!names.empty()) names += ' ';
    names += trait.first;
  }
  return names;
}

bool ParseTrait(std::string_view name, uint32_t* trait) {
  for (const auto& known : kTraits)
    if (known.first == name) {
      *trait = known.second;
      return true;
    }
  return false;
}

}  // namespace weft::drr::text
