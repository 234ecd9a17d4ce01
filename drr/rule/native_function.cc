#include "drr/rule/native_function.h"

#include <utility>

#include "drr/rule/match_context.h"
#include "drr/rule/vocabulary.h"

namespace weft::drr {
namespace {

NativeArgument ArgumentOf(const MatchContext& match, const Formula::Argument& argument) {
  NativeArgument found;
  const auto set = [&](NativeArgument::Kind kind, bool given) {
    found.kind = given ? kind : NativeArgument::kAbsent;
  };
  switch (argument.kind) {
    case Formula::Argument::kValue: {
      const PatternGraph& graph = match.rule().graph;
      if (graph.values[graph.Resolve(argument.value)].list) {
        found.list = match.list(argument.value);
        set(NativeArgument::kList, true);
      } else {
        found.value = match.value(argument.value);
        set(NativeArgument::kValue, static_cast<bool>(found.value));
      }
      break;
    }
    case Formula::Argument::kVariable:
      found.attribute = match.attr(argument.variable);
      set(NativeArgument::kAttribute, static_cast<bool>(found.attribute));
      break;
    case Formula::Argument::kLiteral:
      found.attribute = argument.literal;
      set(NativeArgument::kAttribute, true);
      break;
  }
  return found;
}

}  // namespace

Constraint MakeNativeConstraint(NativeFunction function, std::vector<Formula::Argument> arguments,
                                std::string reason, SourceLoc loc) {
  Constraint constraint;
  constraint.reason = std::move(reason);
  constraint.holds = [holds = function.holds, arguments](const MatchContext& match) {
    std::vector<NativeArgument> given;
    given.reserve(arguments.size());
    for (const Formula::Argument& argument : arguments)
      given.push_back(ArgumentOf(match, argument));
    return holds(given);
  };
  constraint.loc = loc;
  constraint.formula.arguments = std::move(arguments);
  constraint.function = std::move(function);
  return constraint;
}

NativeFunctions FunctionsOf(const PatternGraph& graph) {
  NativeFunctions functions;
  for (const Constraint& constraint : graph.constraints)
    if (constraint.function.holds) functions.push_back(constraint.function);
  return functions;
}

}  // namespace weft::drr
