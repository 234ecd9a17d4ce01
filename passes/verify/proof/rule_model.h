// Ways in which a rule matches, in numbers: one case of its source, with sizes and lists that a solver finds
// for it, and, where that is wanted, with which a constraint that the rule does not have is broken.
//
// Only shapes, types, axes and lists are followed, as in ProveFollows (rule_proof.h); what is known of ops is
// not all. So a program made from a model (passes/verify/search/model_programs.h) may turn out to be none on
// which the rule applies.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "drr/rule/rule.h"
#include "passes/verify/proof/case.h"

namespace weft::passes {

// Of a value that no op of the pattern makes.
struct ModelledValue {
  bool is_absent = false;
  ir::Shape shape{};
  TypeClass type_class = 0;        // values of one class have one element type,
  TypeSet types = kAnyType;        // of these
  std::optional<ir::Ints> list{};  // its elements, where the case reads them
  std::optional<double> number{};  // that all elements are
};

struct RuleModel {
  std::map<size_t, ModelledValue> values;  // by value, resolved
  std::vector<std::optional<uint32_t>> choices,
      alternatives;  // by value and op, as Assignment has them
  std::map<std::pair<size_t, std::string>, ir::Attribute> fields;  // by op
  std::vector<ir::Attribute> variables;                            // null: any
};

struct ModelOptions {
  const drr::Formula* broken = nullptr;  // a constraint that is not to hold
  bool with_empty = false;               // also sizes of 0
  // The answer that is tried first to a question of a case (proof/case.h).
  std::function<size_t(const std::string& what, size_t options)> answer;
  // The size that an axis of a value should have if it may; the order in which that is asked for is theirs.
  std::function<int64_t(size_t value, size_t axis, size_t rank)> size;
  std::function<size_t(size_t n)> below;  // at random
  size_t cases = 100;                     // until one has a model,
  size_t questions = 3;                   // of those for which a solver is asked
  double until =
      std::numeric_limits<double>::infinity();  // ir::ThreadSeconds() when the last one begins
};

constexpr unsigned kMillisecondsOfModel = 100;  // for the state: of one question to its solver

// None where none was found, or there is no solver. `state` is for the same rule next time, too, as a solver
// takes longer to make and to destroy than most models to find.
std::optional<RuleModel> FindModel(const drr::Rule& rule, const ModelOptions& options,
                                   ProofState* state);

}  // namespace weft::passes
