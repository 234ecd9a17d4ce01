#include "ir/traits.h"

#include <utility>

#include "ir/op_def.h"

namespace weft::ir {
namespace {

constexpr std::pair<std::string_view, uint32_t> kTraits[] = {
    {"pure", kPure},
    {"commutative", kCommutative},
    {"elementwise", kElementwise},
    {"terminator", kTerminator},
    {"constant_like", kConstantLike},
    {"inplace", kInplace},
    {"read_only", kReadOnly},
    {"value_semantics", kValueSemantics},
    {"random", kRandom},
    {"isolated", kIsolated},
    {"view", kView},
    {"reads_shapes_only", kReadsShapesOnly},
    {"axis_of_operand", kAxisOfOperand},
    {"type_generic", kTypeGeneric},
    {"rank_generic", kRankGeneric},
    {"own_loop", kOwnLoop},
    {"atomic", kAtomic},
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

}  // namespace weft::ir
