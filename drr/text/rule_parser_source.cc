// The statements of a source block.
#include <fmt/format.h>

#include <algorithm>

#include "drr/rule/arity.h"
#include "drr/rule/record_attributes.h"
#include "drr/text/rule_parser.h"
#include "ir/traits.h"

namespace weft::drr::text {

using ir::Attribute;

namespace {

constexpr int kMaxTimes = 1'000'000;

}  // namespace

bool RuleParser::ParseSource() {
  if (s_.Peek() != '%') return ParseFlag();
  const SourceLoc loc = Here();
  const char* at = s_.position();
  std::vector<ValueId> made;
  do {
    if (!Value(&made.emplace_back())) return false;
  } while (s_.Consume(','));
  if (!s_.Expect('=', "after the values that are made")) return false;
  for (ValueId id : made) {
    const SourceValue& v = At(id);
    if (v.producer || !v.either.empty() || v.through ||
        std::count(made.begin(), made.end(), id) > 1)
      return Fail(at, fmt::format("{} is made twice", graph_->Describe(id)));
  }
  if (s_.ConsumeWord("either")) return ParseEither(at, made);
  if (s_.ConsumeWord("skip")) return ParseSkip(at, made);
  return ParseSourceOp(std::move(made), loc);
}

bool RuleParser::ParseEither(const char* at, const std::vector<ValueId>& made) {
  std::vector<ValueId> either;
  if (made.size() != 1) return Fail(at, "either(...) is one value");
  if (!ValueList(&either, "")) return false;
  if (either.size() < 2) return Fail(at, "either(...) needs two values or more");
  At(made[0]).either = std::move(either);
  return true;
}

bool RuleParser::ParseSkip(const char* at, const std::vector<ValueId>& made) {
  if (made.size() != 1) return Fail(at, "skip(...) is one value");
  ValueId through;
  std::vector<SkippedOp> skipped;
  if (!s_.Expect('(', "after skip") || !Value(&through)) return false;
  while (s_.Consume(',')) {
    SkippedOp op;
    if (!OpName(&op.def)) return false;
    op.same_type = s_.ConsumeWord("same_type");
    skipped.push_back(op);
  }
  if (skipped.empty()) return Fail("expected an op that may be skipped but found " + s_.Found());
  At(made[0]).through = through;
  At(made[0]).skipped = std::move(skipped);
  return s_.Expect(')', "after the ops that may be skipped");
}

bool RuleParser::ParseFlag() {
  const char* at = s_.position();
  const std::string word(s_.Name());
  ValueId id, pattern;
  const bool known = word == "optional" || word == "list" || word == "outside" || word == "keep" ||
                     word == "recompute" || word == "not";
  if (!known)
    return Fail(at, fmt::format("expected a value, optional, keep, recompute, outside, list or "
                                "not, but found {}",
                                word.empty() ? s_.Found() : "'" + word + "'"));
  if (!Value(&id)) return false;
  if (word == "not") {
    if (!Value(&pattern)) return false;
    At(id).nots.push_back(pattern);
  }
  SourceValue& v = At(id);
  v.optional |= word == "optional";
  v.list |= word == "list";
  v.outside |= word == "outside";
  if (word == "keep") v.escape = Escape::kKeep;
  if (word == "recompute") v.escape = Escape::kRecompute;
  return true;
}

bool RuleParser::ParseSourceOp(std::vector<ValueId> made, SourceLoc loc) {
  if (graph_->ops.size() >= kMaxOps) return Fail(fmt::format("more than {} ops", kMaxOps));
  SourceOp op;
  op.loc = loc;
  op.called = true;
  if (!ParseTimes(&op) || !ParseAlternatives(&op)) return false;
  const char* at = s_.position();
  if (!ValueList(&op.operands, "none") || !ParseRegions(&op)) return false;
  if (!CheckArity(at, op, made.size())) return false;
  for (size_t i = 0; i < made.size(); ++i) {
    At(made[i]).producer = OpId(graph_->ops.size());
    At(made[i]).result_index = static_cast<int>(i);
    At(made[i]).list |= op.times == Times::kEach;
  }
  op.results = std::move(made);
  graph_->NewOp(std::move(op));
  return true;
}

bool RuleParser::ParseTimes(SourceOp* op) {
  if (s_.ConsumeWord("each")) op->times = Times::kEach;
  if (!s_.ConsumeWord("repeat")) return true;
  op->times = Times::kChain;
  if (!Integer(0, kMaxTimes, &op->min_times)) return false;
  if (!s_.Consume('.') || !s_.Consume('.')) return Fail("expected '..' but found " + s_.Found());
  return Integer(op->min_times, INT32_MAX, &op->max_times);
}

bool RuleParser::ParseAlternatives(SourceOp* op) {
  if (s_.ConsumeWord("named")) return Quoted(&op->opcode);
  if (s_.ConsumeWord("any")) {
    if (!s_.Expect('[', "before the traits")) return false;
    while (!s_.Consume(']')) {
      uint32_t trait = 0;
      const char* at = s_.position();
      if (!ir::ParseTrait(s_.Name(), &trait)) return Fail(at, "there is no such trait");
      op->traits |= trait;
    }
    return true;
  }
  do {
    Alternative alternative;
    if (!OpName(&alternative.def) || !ParseAttrPatterns(&alternative)) return false;
    op->alternatives.push_back(std::move(alternative));
    if (op->alternatives.size() > kMaxOps) return Fail("too many alternatives");
  } while (s_.Consume('|'));
  return true;
}

bool RuleParser::ParseRegions(SourceOp* op) {
  while (s_.ConsumeWord("region")) {
    RegionPattern region;
    region.loc = Here();
    if (!Integer(0, 1000, &region.region) || !ValueList(&region.returned, "_")) return false;
    op->regions.push_back(std::move(region));
  }
  return true;
}

bool RuleParser::CheckArity(const char* at, const SourceOp& op, size_t num_results) {
  const bool plain = op.times == Times::kOnce;
  if (!plain && num_results != 1) return Fail(at, "a chain, or each, gives one value");
  if (!plain && op.operands.empty()) return Fail(at, "a chain, or each, reads a value");
  for (const Alternative& a : op.alternatives) {
    const auto& operands = a.def->info->operands;
    if (plain && !IsVariadic(operands) && op.operands.size() > operands.size())
      return Fail(at, fmt::format("{} takes at most {} operands, not {}", a.def->name(),
                                  operands.size(), op.operands.size()));
    for (size_t i = op.operands.size(); plain && i < operands.size(); ++i)
      if (operands[i].arity == ir::Arity::kOne)
        return Fail(
            at, fmt::format("operand '{}' of {} is not given", operands[i].name, a.def->name()));
    const auto& results = a.def->info->results;
    if (!IsVariadic(results) && num_results > results.size())
      return Fail(at, fmt::format("{} has at most {} results, not {}", a.def->name(),
                                  results.size(), num_results));
  }
  return true;
}

bool RuleParser::ParseAttrPatterns(Alternative* a) {
  bool open = false;
  std::vector<bool> seen(a->def->fields.size(), false);
  if (s_.Consume('{')) {
    const bool ok = List('}', [&] {
      if (s_.Consume("...")) return open = true;
      const ir::FieldDef* field = nullptr;
      const char* at = s_.position();
      if (!FieldName(*a->def, &field)) return false;
      const size_t index = static_cast<size_t>(field - a->def->fields.data());
      if (seen[index])
        return Fail(at, fmt::format("attribute '{}' is there twice", field->name.str()));
      seen[index] = true;
      return ParseAttrPattern(*a->def, *field, &a->attrs);
    });
    if (!ok) return false;
  }
  for (size_t i = 0; i < seen.size() && !open; ++i) {
    if (seen[i]) continue;
    if (!AddDefault(*a->def, a->def->fields[i], &a->attrs)) return false;
  }
  // As if they had been recorded: in the order of the op's fields.
  std::stable_sort(a->attrs.begin(), a->attrs.end(),
                   [&](const AttrPattern& x, const AttrPattern& y) {
                     return a->def->FindField(x.name) < a->def->FindField(y.name);
                   });
  return true;
}

bool RuleParser::AddDefault(const ir::OpDef& def, const ir::FieldDef& field,
                            std::vector<AttrPattern>* attrs) {
  if (!field.make_default && !field.optional)
    return Fail(
        fmt::format("attribute '{}' of {} has no default: give a value, a variable or "
                    "any",
                    field.name.str(), def.name()));
  drr::internal::AddDefaultAttr(graph_.get(), field, {}, def.name(), attrs);
  return true;
}

bool RuleParser::ParseAttrPattern(const ir::OpDef& def, const ir::FieldDef& field,
                                  std::vector<AttrPattern>* attrs) {
  if (s_.Peek() == '$') {
    AttrId variable;
    if (!Variable(&variable)) return false;
    drr::internal::AddBind(graph_.get(), field, variable, attrs);
    if (s_.ConsumeWord("given")) attrs->back().values.clear();
    return true;
  }
  if (s_.ConsumeWord("default")) return AddDefault(def, field, attrs);
  if (s_.ConsumeWord("any")) {
    attrs->push_back({field.name, AttrPattern::kAny, {}, {}});
    return true;
  }
  std::vector<Attribute> values;
  const auto value = [&] {
    if (s_.ConsumeWord("absent")) {
      values.emplace_back();
      return true;
    }
    return Literal(field, &values.emplace_back());
  };
  const bool given = s_.ConsumeWord("given");
  if (given || s_.ConsumeWord("in")) {
    if (!s_.Expect('(', "before the values") || !List(')', value)) return false;
  } else if (!value()) {
    return false;
  }
  if (given) {
    attrs->push_back({field.name, AttrPattern::kIsOneOf, std::move(values), {}});
  } else {
    drr::internal::AddLiterals(graph_.get(), field, std::move(values), attrs);
  }
  return true;
}

}  // namespace weft::drr::text
