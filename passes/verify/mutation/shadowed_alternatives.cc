#include "passes/verify/mutation/shadowed_alternatives.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "passes/verify/mutation/mistakes.h"
#include "passes/verify/proof/rule_case.h"

namespace weft::passes {
namespace {

using drr::Formula;
using drr::OpId;
using drr::SourceOp;
using drr::SourceValue;
using drr::ValueId;

class Shadow {
 public:
  explicit Shadow(const drr::PatternGraph& graph) : graph_(graph) {}

  // Whether `a` takes what `b` takes.
  bool Covers(ValueId a, ValueId b) const {
    if (!a || !b) return !a && !b;
    a = graph_.Resolve(a);
    b = graph_.Resolve(b);
    if (a == b) return true;
    const SourceValue &x = graph_.values[a], &y = graph_.values[b];
    if (x.producer && y.producer) return OpCovers(graph_.ops[x.producer], graph_.ops[y.producer]);
    return IsLeaf(x) && IsLeaf(y) && x.optional == y.optional && CountUses(a) == 1 &&
           AsksNoMore(a, b);
  }
  // Whether something else makes it.
  bool IsMadeOtherwise(ValueId value, const ir::OpDef& def) const {
    const SourceValue& v = graph_.values[graph_.Resolve(value)];
    if (!v.producer) return false;
    const auto& alternatives = graph_.ops[v.producer].alternatives;
    return !alternatives.empty() && std::none_of(alternatives.begin(), alternatives.end(),
                                                 [&](const auto& a) { return a.def == &def; });
  }

 private:
  static bool IsLeaf(const SourceValue& value) {
    return !value.producer && !value.through && value.either.empty() && value.nots.empty() &&
           !value.list;
  }
  static bool IsPlain(const SourceOp& op) {
    return op.times == drr::Times::kOnce && op.alternatives.size() == 1 &&
           op.alternatives[0].attrs.empty() && op.results.size() == 1 && op.regions.empty();
  }
  bool OpCovers(const SourceOp& a, const SourceOp& b) const {
    return IsPlain(a) && IsPlain(b) && a.alternatives[0].def == b.alternatives[0].def &&
           std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(), b.operands.end(),
                      [&](ValueId x, ValueId y) { return Covers(x, y); });
  }
  size_t CountUses(ValueId value) const {
    size_t uses = 0;
    const auto count = [&](const std::vector<ValueId>& list) {
      uses += static_cast<size_t>(std::count_if(list.begin(), list.end(), [&](ValueId other) {
        return other && graph_.Resolve(other) == value;
      }));
    };
    for (const SourceOp& op : graph_.ops) count(op.operands);
    for (const SourceValue& other : graph_.values) {
      count(other.either);
      count(other.nots);
      if (other.through) count({other.through});
    }
    return uses;
  }
  // Whether every constraint on `a` stands there on `b` too.
  bool AsksNoMore(ValueId a, ValueId b) const {
    const auto& all = graph_.constraints;
    return std::all_of(all.begin(), all.end(), [&](const drr::Constraint& constraint) {
      if (constraint.formula.name.empty()) return false;  // which may read anything
      const Formula wanted = With(constraint.formula, a, b);
      return std::any_of(all.begin(), all.end(), [&](const auto& other) {
        return AreEqual(graph_, other.formula, wanted);
      });
    });
  }
  Formula With(Formula formula, ValueId a, ValueId b) const {
    for (auto& argument : formula.arguments)
      if (argument.kind == Formula::Argument::kValue && graph_.Resolve(argument.value) == a)
        argument.value = b;
    return formula;
  }

  const drr::PatternGraph& graph_;
};

bool IsSplat(const drr::PatternGraph& graph, ValueId value, double number) {
  const auto& all = graph.constraints;
  return std::any_of(all.begin(), all.end(), [&](const drr::Constraint& constraint) {
    const Formula& formula = constraint.formula;
    return formula.name == "splat_is" &&
           graph.Resolve(formula.arguments[0].value) == graph.Resolve(value) &&
           NumberOf(formula.arguments[1]) == number;
  });
}

}  // namespace

bool IsShadowed(const drr::PatternGraph& graph, OpId op, const ir::OpDef& before) {
  const SourceOp& source = graph.ops[op];
  if (source.results.size() != 1 || source.alternatives.size() != 1) return false;
  const ValueId made = graph.Resolve(source.results[0]);
  const Shadow shadow(graph);
  bool is_shadowed = false;
  for (const SourceValue& value : graph.values) {
    const auto at = std::find_if(value.either.begin(), value.either.end(),
                                 [&](ValueId other) { return graph.Resolve(other) == made; });
    if (at == value.either.end()) continue;
    is_shadowed = std::any_of(value.either.begin(), at,
                              [&](ValueId first) { return shadow.Covers(first, made); }) &&
                  std::all_of(at + 1, value.either.end(),
                              [&](ValueId later) { return shadow.IsMadeOtherwise(later, before); });
    if (!is_shadowed) return false;
  }
  // Read as it is by no op.
  return is_shadowed &&
         std::none_of(graph.ops.begin(), graph.ops.end(), [&](const SourceOp& other) {
           return std::any_of(other.operands.begin(), other.operands.end(), [&](ValueId operand) {
             return operand && graph.Resolve(operand) == made;
           });
         });
}

bool MakesAnother(const drr::PatternGraph& graph, OpId op) {
  constexpr std::pair<std::string_view, double> kNeutral[] = {
      {"onnx.Add", 0}, {"onnx.Sub", 0}, {"onnx.Mul", 1}, {"onnx.Div", 1}};
  const SourceOp& source = graph.ops[op];
  if (source.results.size() != 1 || source.alternatives.size() != 1) return false;
  const auto neutral = std::find_if(
      std::begin(kNeutral), std::end(kNeutral),
      [&](const auto& entry) { return entry.first == source.alternatives[0].def->name(); });
  if (neutral == std::end(kNeutral) || !IsSplat(graph, source.operands[1], neutral->second))
    return false;
  return std::any_of(graph.values.begin(), graph.values.end(), [&](const SourceValue& value) {
    const auto has = [&](ValueId wanted) {
      return std::any_of(value.either.begin(), value.either.end(), [&](ValueId alternative) {
        return graph.Resolve(alternative) == graph.Resolve(wanted);
      });
    };
    return has(source.results[0]) && has(source.operands[0]);
  });
}

}  // namespace weft::passes
