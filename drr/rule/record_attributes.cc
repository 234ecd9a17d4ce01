#include "drr/rule/record_attributes.h"

#include <fmt/format.h>

#include <algorithm>

#include "drr/rule/vocabulary.h"

namespace weft::drr::internal {

void AddDefaultAttr(PatternGraph* graph, const ir::FieldDef& field, SourceLoc loc,
                    std::string_view op, std::vector<AttrPattern>* attrs) {
  AttrPattern pattern{field.name, AttrPattern::kIsOneOf, {}, {}};
  if (field.make_default) {
    pattern.values.push_back(field.make_default(*graph->context()));
    pattern.values.emplace_back();  // not written out means the same
  } else if (field.optional) {
    pattern.values.emplace_back();
  } else {
    graph->Error(loc, fmt::format("attribute '{}' of {} has no default: match a value, bind it, or "
                                  "say Any()",
                                  field.name.str(), op));
  }
  attrs->push_back(std::move(pattern));
}

void AddLiterals(PatternGraph* graph, const ir::FieldDef& field, std::vector<ir::Attribute> values,
                 std::vector<AttrPattern>* attrs) {
  // An attribute that is not written out has its default.
  if (field.make_default && std::find(values.begin(), values.end(),
                                      field.make_default(*graph->context())) != values.end())
    values.emplace_back();
  attrs->push_back({field.name, AttrPattern::kIsOneOf, std::move(values), {}});
}

void AddBind(PatternGraph* graph, const ir::FieldDef& field, AttrId variable,
             std::vector<AttrPattern>* attrs) {
  graph->attrs[variable].bound = true;
  AttrPattern pattern{field.name, AttrPattern::kBind, {}, variable};
  if (field.make_default) pattern.values.push_back(field.make_default(*graph->context()));
  attrs->push_back(std::move(pattern));
}

void AddDefaultAttr(PatternGraph* graph, OpId op, size_t field) {
  Alternative& last = graph->ops[op].alternatives.back();
  AddDefaultAttr(graph, last.def->fields[field], graph->ops[op].loc, last.def->name(), &last.attrs);
}

void AddLiterals(PatternGraph* graph, OpId op, size_t field, std::vector<ir::Attribute> values) {
  Alternative& last = graph->ops[op].alternatives.back();
  AddLiterals(graph, last.def->fields[field], std::move(values), &last.attrs);
}

void AddBind(PatternGraph* graph, OpId op, size_t field, AttrId variable) {
  Alternative& last = graph->ops[op].alternatives.back();
  AddBind(graph, last.def->fields[field], variable, &last.attrs);
}

void AddResultDefault(PatternGraph* graph, ResultOpId op, size_t index) {
  ResultOp& result = graph->result_ops[op];
  const ir::FieldDef& field = graph->DefOf(result)->fields[index];
  if (result.attrs_of || result.like) return;  // whatever the other op has
  if (field.make_default) {
    result.attrs.push_back({field.name, field.make_default(*graph->context()), {}, {}});
  } else if (!field.optional) {
    graph->Error(result.loc, fmt::format("attribute '{}' of {} has no default and is not set",
                                         field.name.str(), graph->NameOf(result)));
  }
}

void AddResultLiteral(PatternGraph* graph, ResultOpId op, size_t index, ir::Attribute value) {
  ResultOp& result = graph->result_ops[op];
  result.attrs.push_back({graph->DefOf(result)->fields[index].name, value, {}, {}});
}

void AddResultCopy(PatternGraph* graph, ResultOpId op, size_t index, AttrId variable) {
  ResultOp& result = graph->result_ops[op];
  const ir::FieldDef& field = graph->DefOf(result)->fields[index];
  if (!graph->attrs[variable].bound)
    graph->Error(result.loc,
                 fmt::format("attribute '{}' of {} copies '{}', which no source op binds",
                             field.name.str(), graph->NameOf(result), graph->attrs[variable].name));
  result.attrs.push_back({field.name, {}, variable, {}});
}

void AddResultCompute(PatternGraph* graph, ResultOpId op, size_t index,
                      const ComputeAttr& compute) {
  ResultOp& result = graph->result_ops[op];
  result.attrs.push_back({graph->DefOf(result)->fields[index].name, {}, {}, compute});
}

void AddResultFormula(PatternGraph* graph, ResultOpId op, size_t index, Formula formula) {
  if (formula.name.empty()) return;  // an error of the rule
  ResultOp& result = graph->result_ops[op];
  const ir::FieldDef& field = graph->DefOf(result)->fields[index];
  result.attrs.push_back(MakeComputedAttr(field, std::move(formula), op));
}

void ShareAttrs(PatternGraph* graph, OpId op) {
  std::vector<Alternative>& alternatives = graph->ops[op].alternatives;
  for (size_t i = 1; i < alternatives.size(); ++i) {
    for (const AttrPattern& attr : alternatives[0].attrs) {
      const ir::FieldDef* field = alternatives[i].def->FindField(attr.name);
      std::vector<ir::Attribute> values = attr.values;
      std::erase(values, ir::Attribute());
      if (!field || !std::all_of(values.begin(), values.end(), field->accepts)) {
        graph->Error(
            graph->ops[op].loc,
            fmt::format("{} has no attribute '{}' of the kind that {} has",
                        alternatives[i].def->name(), attr.name.str(), alternatives[0].def->name()));
      } else if (attr.kind == AttrPattern::kBind) {
        AddBind(graph, *field, attr.variable, &alternatives[i].attrs);
      } else {
        AddLiterals(graph, *field, std::move(values), &alternatives[i].attrs);
      }
    }
  }
}

void CheckOverrides(PatternGraph* graph, ResultOpId op) {
  const ResultOp& result = graph->result_ops[op];
  const SourceOp& like = graph->ops[result.like];
  for (const ResultAttr& attr : result.attrs) {
    const ir::FieldDef* first = like.alternatives[0].def->FindField(attr.name);
    for (const Alternative& alternative : like.alternatives) {
      const ir::FieldDef* field = alternative.def->FindField(attr.name);
      if (field && field->kind == first->kind && (!attr.literal || field->accepts(attr.literal)))
        continue;
      graph->Error(result.loc, fmt::format("{} has no attribute '{}' of the kind that {} has",
                                           alternative.def->name(), attr.name.str(),
                                           like.alternatives[0].def->name()));
    }
  }
}

}  // namespace weft::drr::internal
