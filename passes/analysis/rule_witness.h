// Small programs on which a rule applies, made from nothing but the rule: its source pattern is
// instantiated again and again with types, attributes and constants from a fixed stock, and what
// comes closest to a match is varied on. For rules whose constraints want what the stock does not
// have, nothing is found.
//
//   std::vector<std::unique_ptr<ir::Program>> programs = MakeWitnesses(context, rule, {});
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "drr/rule/rule.h"
#include "ir/program.h"

namespace weft::passes {

struct WitnessOptions {
  int wanted = 4;       // different programs
  int attempts = 6000;  // programs that are built and matched at most
  uint64_t seed = 1;    // same seed, same programs
};

struct Witness {
  std::unique_ptr<ir::Program> program;  // verified
  ir::Operation site;                    // where the rule matches and can be applied
};
// All different. Empty when none was found; *why (may be null) then says what the closest attempt
// failed at.
std::vector<Witness> MakeWitnesses(ir::IrContext& context, const drr::Rule& rule,
                                   const WitnessOptions& options, std::string* why);

}  // namespace weft::passes
