#include "drr/text/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "drr/equivalence/body_equivalence.h"
#include "drr/paddle/recorder.h"
#include "drr/rule/match_context.h"

namespace weft::drr::text {

using ir::Attribute;
using ir::AttrKind;
using Arguments = std::vector<Formula::Argument>;

namespace {

// What formulas see of a match.
class Evaluation {
 public:
  Evaluation(const MatchContext& match, const Arguments& arguments)
      : m(match), arguments_(arguments) {}

  BoundTensor tensor(size_t i) const { return BoundTensor(m.value(arguments_[i].id)); }
  Attribute variable(size_t i) const { return m.attr(arguments_[i].id); }
  Attribute literal(size_t i) const { return arguments_[i].literal; }
  int64_t integer(size_t i) const { return arguments_[i].literal.AsInt(); }
  double number(size_t i) const {
    const Attribute a = arguments_[i].literal;
    return a.Is(AttrKind::kInt) ? static_cast<double>(a.AsInt()) : a.AsDouble();
  }
  const std::string& string(size_t i) const { return arguments_[i].literal.AsString(); }
  bool has(size_t i) const { return i < arguments_.size(); }

  const MatchContext& m;

 private:
  const Arguments& arguments_;
};

bool IsOneElement(const BoundTensor& t) { return t.is_static() && t.type().NumElements() == 1; }

// Constraints: true only when proved.
bool IsConstant(const Evaluation& e) { return e.tensor(0).is_constant(); }
bool IsStatic(const Evaluation& e) { return e.tensor(0).is_static(); }
bool RankIs(const Evaluation& e) { return e.tensor(0).rank() == e.integer(1); }
bool DimIs(const Evaluation& e) {
  return e.integer(2) >= 0 && e.tensor(0).dim(e.integer(1)) == e.integer(2);
}
bool SameDim(const Evaluation& e) {
  return ir::SameDim(e.tensor(0).dim(e.integer(1)), e.tensor(2).dim(e.integer(3)));
}
bool DtypeIs(const Evaluation& e) { return e.tensor(0).dtype() == e.literal(1).AsDataType(); }
bool SameType(const Evaluation& e) {
  return ir::ProvablySameType(e.tensor(0).type(), e.tensor(1).type());
}
bool SameShape(const Evaluation& e) {
  return ir::ProvablySameShape(e.tensor(0).type(), e.tensor(1).type());
}
bool OneElement(const Evaluation& e) { return IsOneElement(e.tensor(0)); }
bool SplatIs(const Evaluation& e) {
  const double wanted = e.number(1);
  return e.tensor(0).IsSplat(wanted, e.has(2) ? e.number(2) : 1e-6 * std::abs(wanted));
}
bool IsPositive(const Evaluation& e) {
  const auto splat = e.tensor(0).splat();
  return splat && *splat > 0 && IsOneElement(e.tensor(0));
}
bool IsIdentity(const Evaluation& e) {
  const Attribute perm = e.variable(0);
  if (!perm.Is(AttrKind::kInts)) return false;
  for (size_t i = 0; i < perm.AsInts().size(); ++i)
    if (perm.AsInts()[i] != static_cast<int64_t>(i)) return false;
  return true;
}
bool IsNamed(const Evaluation& e) {
  const ir::Value v = e.tensor(0).value();
  return v && v.DefiningOp() && v.DefiningOp().location().str() == e.string(1);
}
bool AttributeIs(const Evaluation& e) {
  const ir::Value v = e.tensor(0).value();
  const ir::Operation op = v ? v.DefiningOp() : ir::Operation();
  if (!op) return false;
  const ir::FieldDef* field = op.def() ? op.def()->FindField(ir::Name(e.string(1))) : nullptr;
  Attribute found = op.attr(e.string(1));
  if (!found && field && field->make_default) found = field->make_default(*e.m.context());
  const Attribute wanted = e.literal(2);
  if (!found) return false;
  const Attribute converted = string_spelling::Convert(*e.m.context(), wanted, found.kind());
  if (converted == found) return true;
  e.m.Explain(fmt::format("attribute {} of {} is another", e.string(1), op.name()));
  return false;
}
bool ComputesResult(const Evaluation& e) {
  const BodySolution solution = SolveBodies(e.m);
  if (!solution.proved) e.m.Explain(solution.why);
  return solution.proved;
}

// Attributes: null when the match does not have it.
Attribute Splat(const Evaluation& e) {
  const auto splat = e.tensor(0).splat();
  if (!splat) return {};
  if (ir::IsInteger(e.tensor(0).dtype()))
    return e.m.context()->IntAttr(static_cast<int64_t>(*splat));
  return e.m.context()->DoubleAttr(*splat);
}
Attribute Dim(const Evaluation& e) {
  const int64_t dim = e.tensor(0).dim(e.integer(1));
  return dim >= 0 ? e.m.context()->IntAttr(dim) : Attribute();
}
Attribute ConstantInts(const Evaluation& e) {
  const auto ints = e.tensor(0).ints();
  return ints ? e.m.context()->IntsAttr(*ints) : Attribute();
}
Attribute ShapeOf(const Evaluation& e) {
  if (!e.tensor(0).is_static()) return {};
  const ir::Shape shape = e.tensor(0).shape();
  return e.m.context()->IntsAttr(shape);
}
Attribute AttributeOf(const Evaluation& e) {
  const ir::Value v = e.tensor(0).value();
  const ir::Operation op = v ? v.DefiningOp() : ir::Operation();
  if (!op) return {};
  const Attribute given = op.attr(e.string(1));
  const ir::FieldDef* field = op.def() ? op.def()->FindField(ir::Name(e.string(1))) : nullptr;
  if (given || !field || !field->make_default) return given;
  return field->make_default(*e.m.context());
}
Attribute Compose(const Evaluation& e) {  // p[q]
  const Attribute p = e.variable(0), q = e.variable(1);
  if (!p.Is(AttrKind::kInts) || !q.Is(AttrKind::kInts)) return {};
  ir::Ints composed;
  for (int64_t axis : q.AsInts()) {
    if (axis < 0 || axis >= static_cast<int64_t>(p.AsInts().size())) return {};
    composed.push_back(p.AsInts()[axis]);
  }
  return e.m.context()->IntsAttr(composed);
}

struct Entry {
  VocabularyEntry entry;
  bool (*holds)(const Evaluation&);
  Attribute (*compute)(const Evaluation&);
};

const std::vector<Entry>& Entries() {
  static const auto* entries = new std::vector<Entry>{
      {{"constant", "v", true, "its contents are known"}, IsConstant, nullptr},
      {{"static", "v", true, "every size of its shape is known"}, IsStatic, nullptr},
      {{"rank_is", "vi", true, "it has this rank"}, RankIs, nullptr},
      {{"dim_is", "vii", true, "this axis has this size"}, DimIs, nullptr},
      {{"same_dim", "vivi", true, "the two axes have one size"}, SameDim, nullptr},
      {{"dtype_is", "vt", true, "it has this element type"}, DtypeIs, nullptr},
      {{"same_type", "vv", true, "one element type and one shape: each size a number or symbol"},
       SameType,
       nullptr},
      {{"same_shape", "vv", true, "one shape: each size an equal number or symbol"},
       SameShape,
       nullptr},
      {{"one_element", "v", true, "it has one element"}, OneElement, nullptr},
      {{"splat_is", "vn?n", true, "a constant, every element this number (to 1e-6, or the third)"},
       SplatIs,
       nullptr},
      {{"positive", "v", true, "a constant of one positive element"}, IsPositive, nullptr},
      {{"identity", "a", true, "the permutation moves nothing"}, IsIdentity, nullptr},
      {{"named", "vs", true, "what makes it has this name (location)"}, IsNamed, nullptr},
      {{"attribute_is", "vsl", true, "an attribute of what makes it is this"},
       AttributeIs,
       nullptr},
      {{kComputesResult, "", true, "the match computes what the result does"},
       ComputesResult,
       nullptr},
      {{"splat", "v", false, "the one number of a constant"}, nullptr, Splat},
      {{"dim", "vi", false, "the size of an axis"}, nullptr, Dim},
      {{"ints", "v", false, "the integers of a constant"}, nullptr, ConstantInts},
      {{"shape", "v", false, "its shape"}, nullptr, ShapeOf},
      {{"attribute", "vs", false, "an attribute of what makes it"}, nullptr, AttributeOf},
      {{"compose", "aa", false, "the first permutation, then the second"}, nullptr, Compose},
      {{kFromBody, "", false, "what makes the result compute what the match does"},
       nullptr,
       nullptr},
  };
  return *entries;
}

const Entry* FindEntry(std::string_view name) {
  for (const Entry& e : Entries())
    if (e.entry.name == name) return &e;
  return nullptr;
}

std::string_view KindName(char letter) {
  switch (letter) {
    case 'v':
      return "a value";
    case 'a':
      return "an attribute variable";
    case 'i':
      return "an integer";
    case 'n':
      return "a number";
    case 's':
      return "a string";
    case 't':
      return "an element type";
    default:
      return "a literal";
  }
}

bool Fits(const Formula::Argument& a, char letter) {
  const bool literal = a.kind == Formula::Argument::kLiteral && a.literal;
  switch (letter) {
    case 'v':
      return a.kind == Formula::Argument::kValue;
    case 'a':
      return a.kind == Formula::Argument::kVariable;
    case 'i':
      return literal && a.literal.Is(AttrKind::kInt);
    case 'n':
      return literal && (a.literal.Is(AttrKind::kInt) || a.literal.Is(AttrKind::kFloat) ||
                         a.literal.Is(AttrKind::kDouble));
    case 's':
      return literal && a.literal.Is(AttrKind::kString);
    case 't':
      return literal && a.literal.Is(AttrKind::kDataType);
    default:
      return literal;
  }
}

}  // namespace

const std::vector<VocabularyEntry>& Vocabulary() {
  static const auto* list = [] {
    auto* entries = new std::vector<VocabularyEntry>;
    for (const Entry& e : Entries()) entries->push_back(e.entry);
    return entries;
  }();
  return *list;
}

std::string CheckFormula(const Formula& formula, bool is_constraint) {
  const Entry* entry = FindEntry(formula.name);
  const std::string_view what = is_constraint ? "constraint" : "computed attribute";
  if (!entry || entry->entry.is_constraint != is_constraint) {
    std::vector<std::string_view> names;
    for (const Entry& e : Entries())
      if (e.entry.is_constraint == is_constraint) names.push_back(e.entry.name);
    return fmt::format("unknown {} '{}'{}", what, formula.name,
                       string_spelling::Suggest(formula.name, names));
  }
  std::string letters(entry->entry.arguments);
  const size_t optional = letters.find('?');
  const size_t least = optional == std::string::npos ? letters.size() : optional;
  std::erase(letters, '?');
  if (formula.arguments.size() < least || formula.arguments.size() > letters.size())
    return fmt::format("{} '{}' takes {} arguments but has {}", what, formula.name, least,
                       formula.arguments.size());
  for (size_t i = 0; i < formula.arguments.size(); ++i)
    if (!Fits(formula.arguments[i], letters[i]))
      return fmt::format("argument {} of '{}' must be {}", i + 1, formula.name,
                         KindName(letters[i]));
  return "";
}

Constraint MakeConstraint(Formula formula, std::string reason, SourceLoc loc) {
  Constraint constraint;
  constraint.reason = std::move(reason);
  constraint.holds = [holds = FindEntry(formula.name)->holds, arguments = formula.arguments](
                         const MatchContext& m) { return holds(Evaluation(m, arguments)); };
  constraint.loc = loc;
  constraint.formula = std::move(formula);
  return constraint;
}

ResultAttr MakeComputedAttr(ir::Name name, AttrKind kind, Formula formula, int result_op) {
  ResultAttr attr;
  attr.name = name;
  if (formula.name == kFromBody) {
    attr.compute = [name, result_op](const MatchContext& m) {
      const BodySolution solution = SolveBodies(m);
      if (!solution.proved) {
        m.Explain(solution.why);
        return Attribute();
      }
      const std::vector<ResultAttr>& attrs = m.rule().graph.result_ops[result_op].attrs;
      for (size_t i = attrs.size(); i > 0; --i)
        if (attrs[i - 1].name == name) return solution.attrs[result_op][i - 1];
      return Attribute();
    };
  } else {
    attr.compute = [compute = FindEntry(formula.name)->compute, kind,
                    arguments = formula.arguments](const MatchContext& m) {
      return string_spelling::Convert(*m.context(), compute(Evaluation(m, arguments)), kind);
    };
  }
  attr.formula = std::move(formula);
  return attr;
}

Formula::Argument ValueArgument(int value) { return {Formula::Argument::kValue, value, {}}; }
Formula::Argument VariableArgument(int variable) {
  return {Formula::Argument::kVariable, variable, {}};
}
Formula::Argument LiteralArgument(Attribute literal) {
  return {Formula::Argument::kLiteral, -1, literal};
}

}  // namespace weft::drr::text
