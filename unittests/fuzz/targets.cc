#include "unittests/fuzz/targets.h"

namespace weft::fuzz {
namespace {

// Rules as text and as dicts are read by one function, and have a corpus each.
constexpr FuzzTarget kTargets[] = {
    {"ir", FuzzProgramText}, {"rules", FuzzRules},     {"mappings", FuzzRules},
    {"onnx", FuzzOnnx},      {"tensors", FuzzTensors}, {"flags", FuzzFlags},
};

}  // namespace

std::span<const FuzzTarget> FuzzTargets() { return kTargets; }

const FuzzTarget* FindFuzzTarget(std::string_view name) {
  for (const FuzzTarget& target : kTargets)
    if (target.name == name) return &target;
  return nullptr;
}

}  // namespace weft::fuzz
