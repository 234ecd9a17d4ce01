#include "drr/engine/result_attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace weft::drr {

bool ResultAttributes(const ResultOp& op, const MatchContext& match, ir::AttrDict* dict,
                      std::string* reason, bool* pure) {
  std::vector<ir::NamedAttribute> entries;
  if (op.like) {
    for (const ir::NamedAttribute& a : match.op(op.like).attrs()) entries.push_back(a);
  }
  if (op.attrs_of) {
    for (const ir::NamedAttribute& a : match.op(op.attrs_of).attrs()) {
      const ir::FieldDef* field = op.def->FindField(a.name);
      if (field && field->accepts(a.value)) entries.push_back(a);
    }
    for (const ir::FieldDef& field : op.def->fields) {
      const bool given = std::any_of(entries.begin(), entries.end(),
                                     [&](const auto& e) { return e.name == field.name; });
      if (!given && field.make_default)
        entries.push_back({field.name, field.make_default(*match.context())});
    }
  }
  match.ForgetReads();
  for (const ResultAttr& a : op.attrs) {
    ir::Attribute value = a.literal;
    if (a.variable) value = match.attr(a.variable);
    if (a.compute) value = a.compute(match);
    if (!value) {
      *reason = fmt::format("attribute {} of {} cannot be computed{}{}", a.name.str(),
                            match.rule().graph.NameOf(op), match.explanation().empty() ? "" : ": ",
                            match.explanation());
      return false;
    }
    if (const ir::FieldDef* field = op.def ? op.def->FindField(a.name) : nullptr;
        field && !field->accepts(value)) {
      *reason = fmt::format("attribute {} of {} gets a value of the wrong kind", a.name.str(),
                            match.rule().graph.NameOf(op));
      return false;
    }
    entries.push_back({a.name, value});
  }
  if (pure) *pure = !match.ReadMoreThanAttrs();
  *dict = match.context()->Dict(std::move(entries));
  return true;
}

size_t MinOperands(const ir::OpDef& def) {
  size_t n = 0, min = 0;
  for (const ir::OperandDef& o : def.info->operands) {
    ++n;
    if (o.arity == ir::Arity::kOne) min = n;
  }
  return min;
}

}  // namespace weft::drr
