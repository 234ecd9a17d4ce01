// What a formula of the vocabulary sees of a match, prepared so that evaluating it costs no more than
// a function of C++ would.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "drr/rule/match_context.h"
#include "drr/rule/vocabulary.h"

namespace weft::drr::internal {

struct FormulaArgument {
  ValueId value;
  AttrId variable;
  int64_t integer = 0;
  double number = 0;
  ir::Attribute literal;
};

struct FormulaArguments {
  std::array<FormulaArgument, kMaxArguments> list;
  uint8_t size = 0;
  uint8_t if_given = 0;  // bits: arguments without which a constraint holds
  explicit FormulaArguments(const Formula& formula);
};

class Evaluation {
 public:
  Evaluation(const MatchContext& match, const FormulaArguments& arguments)
      : m(match), arguments_(arguments) {}

  bool has(size_t i) const { return i < arguments_.size; }
  BoundTensor tensor(size_t i) const { return BoundTensor(m.value(at(i).value)); }
  const std::vector<ir::Value>& list(size_t i) const { return m.list(at(i).value); }
  ir::Attribute variable(size_t i) const { return m.attr(at(i).variable); }
  ir::Attribute literal(size_t i) const { return at(i).literal; }
  double number(size_t i) const { return at(i).number; }
  const std::string& string(size_t i) const { return at(i).literal.AsString(); }
  // False when a variable holds something else.
  bool Integer(size_t i, int64_t* value) const {
    *value = at(i).integer;
    if (!at(i).variable) return true;
    const ir::Attribute held = m.attr(at(i).variable);
    if (!held.Is(ir::AttrKind::kInt)) return false;
    *value = held.AsInt();
    return true;
  }
  // Likewise; 1 of a variable that is not bound.
  bool Number(size_t i, double* value) const {
    *value = at(i).number;
    if (!at(i).variable) return true;
    const ir::Attribute held = m.attr(at(i).variable);
    *value = !held ? 1 : held.Is(ir::AttrKind::kInt) ? static_cast<double>(held.AsInt()) : 0;
    if (!held || held.Is(ir::AttrKind::kInt)) return true;
    if (!held.Is(ir::AttrKind::kFloat) && !held.Is(ir::AttrKind::kDouble)) return false;
    *value = held.AsDouble();
    return true;
  }
  // The integers of a variable or of a constant; nothing where there are none.
  std::optional<ir::Ints> ints(size_t i) const {
    if (!at(i).variable) return tensor(i).ints();
    const ir::Attribute held = m.attr(at(i).variable);
    return held.Is(ir::AttrKind::kInts) ? std::optional(held.AsInts()) : std::nullopt;
  }
  // kNull when a variable holds something else.
  ir::DataType dtype(size_t i) const {
    const ir::Attribute held = !at(i).variable ? at(i).literal : m.attr(at(i).variable);
    return held.Is(ir::AttrKind::kDataType) ? held.AsDataType() : ir::DataType::kNull;
  }
  // The size of axis `axis` of value `v`; kUnknownDim when either is not known.
  int64_t dim(size_t v, size_t axis) const {
    int64_t i = 0;
    return Integer(axis, &i) ? tensor(v).dim(i) : ir::kUnknownDim;
  }
  // Whether an argument that may be absent is.
  bool IsAbsent() const {
    for (size_t i = 0; i < arguments_.size; ++i)
      if ((arguments_.if_given >> i & 1) && !m.value(at(i).value)) return true;
    return false;
  }

  const MatchContext& m;

 private:
  const FormulaArgument& at(size_t i) const { return arguments_.list[i]; }
  const FormulaArguments& arguments_;
};

// Of drr/equivalence, which defines them.
bool ComputesResult(const Evaluation& e);
ir::Attribute AttributeFromBody(const MatchContext& match, ir::Name name, ResultOpId result_op);

}  // namespace weft::drr::internal
