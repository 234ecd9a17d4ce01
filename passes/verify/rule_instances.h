// Instances of a rule: small programs on which it applies, made from nothing but the rule.
//
//   std::vector<RuleInstance> instances = MakeInstances(rule, {}, &why);
//
// The source pattern is built with decisions (passes/verify/assignment.h) that are drawn at random;
// where a named constraint does not hold, its meaning says what to decide instead
// (passes/verify/repair.h), and where an op refuses its operands, its message does. Constraints in
// native code are met by chance alone.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "drr/rule/rule.h"
#include "ir/program.h"
#include "passes/verify/assignment.h"

namespace weft::passes {

struct InstanceOptions {
  int wanted = 8;       // different programs
  int attempts = 6000;  // programs that are built and matched at most
  uint64_t seed = 1;    // same seed, same programs
  // Each, where the rule applies then too, also with types of inputs that leave sizes or ranks open;
  // among them programs whose result is refused where all sizes are known.
  bool symbolic = false;
  // Of a mutant: programs that this rule makes the same of are passed over.
  const drr::Rule* original = nullptr;
  // Where it begins, beside anywhere: programs near these are tried.
  std::span<const Assignment> starts{};
  // Asked once where else to begin, when nothing was found by `stuck_at` (ir::ThreadSeconds()) or in half of
  // the attempts.
  std::function<std::vector<Assignment>()> when_stuck = nullptr;
  double stuck_at = std::numeric_limits<double>::infinity();
  // ir::ThreadSeconds() when the search ends with what it has.
  double until = std::numeric_limits<double>::infinity();
  std::function<bool()> stop = nullptr;  // asked at every attempt; true ends it likewise
};

struct RuleInstance {
  std::unique_ptr<ir::Program> program;  // verified
  ir::Operation site;                    // where the rule matches and can be applied
  bool symbolic = false;                 // types of inputs leave something open
  std::vector<ir::Type> types;           // of inputs, with the sizes that it was found with
};

// All different, and of the many that there may be those first that differ in which alternatives,
// operands, element types and ranks they have; of an exact rule some with NaN and the like in their
// constants. Empty when none was found; *why (may be null) then says what the closest attempt failed
// at. *refused (may be null): on how many programs the rule matched, and the engine refused what it
// makes, but not what the rule that it is a mutant of makes.
std::vector<RuleInstance> MakeInstances(const drr::Rule& rule, const InstanceOptions& options,
                                        std::string* why, int* refused = nullptr);

// The program of an instance with sizes that are numbers, with what the rule keeps as outputs too;
// *site: there. Null when the rule keeps nothing.
std::unique_ptr<ir::Program> WithKeptOutputs(const drr::Rule& rule, const RuleInstance& instance,
                                             ir::Operation* site);

// Whether a result of an operation has more elements than a judge can wait for.
inline constexpr int64_t kMostElementsOfValue = int64_t{1} << 22;
bool HasLargeValue(ir::Program& program);

}  // namespace weft::passes
