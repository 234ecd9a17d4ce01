#include <algorithm>
#include <nlohmann/json.hpp>

#include "drr/rule/vocabulary.h"
#include "ir/context.h"
#include "ir/traits.h"
#include "weft/c/guard.h"
#include "weft/c/handles.h"
#include "weft/c/rule_text.h"

namespace weft::c {
namespace {

using nlohmann::ordered_json;

// Names come from texts, whose bytes need not be UTF-8.
std::unique_ptr<weft_bytes> Bytes(const ordered_json& json) {
  return std::make_unique<weft_bytes>(
      weft_bytes{json.dump(-1, ' ', false, ordered_json::error_handler_t::replace)});
}

absl::StatusOr<RuleText> RuleTextOf(const weft_rule_text* rules, const Ended& ended) {
  WEFT_RETURN_IF_ERROR(CheckNotNull(rules, "the rules"));
  WEFT_ASSIGN_OR_RETURN(auto texts, RuleTextsOf(rules, 1, ended));
  return std::move(texts[0]);
}

absl::StatusOr<std::unique_ptr<weft_bytes>> JudgeText(const weft_rule_text* rules,
                                                      const weft_judge_options* options) {
  WEFT_ASSIGN_OR_RETURN(const weft_judge_options read, Read(options, "weft_judge_options"));
  if (!(read.seconds_a_rule >= 0)) return ir::InvalidArgument("seconds_a_rule is less than 0");
  const Ended ended = NotEnded();
  WEFT_ASSIGN_OR_RETURN(const RuleText text, RuleTextOf(rules, ended));
  JudgeOptions judge;
  if (read.seconds_a_rule > 0) judge.seconds_a_rule = read.seconds_a_rule;
  if (read.seed > 0) judge.seed = read.seed;
  judge.notices = NoticesOf(read.notice, read.user_data);
  judge.stop = StopOrEnded(read.stop, read.user_data, ended);
  WEFT_ASSIGN_OR_RETURN(const auto judgements, Judge(text, judge));
  ordered_json json = ordered_json::array();
  for (const Judgement& it : judgements)
    json.push_back({{"rule", it.rule},
                    {"numerics", it.numerics},
                    {"verdict", it.verdict},
                    {"badge", it.badge},
                    {"why", it.why},
                    {"counterexample", it.counterexample},
                    {"programs", it.programs},
                    {"comparisons", it.comparisons}});
  return Bytes(json);
}

std::string_view ArityName(ir::Arity arity) {
  return arity == ir::Arity::kOne ? "one" : arity == ir::Arity::kOptional ? "optional" : "variadic";
}

std::string_view KindName(ir::AttrKind kind) {
  switch (kind) {
    case ir::AttrKind::kUnit:
      return "unit";
    case ir::AttrKind::kBool:
      return "bool";
    case ir::AttrKind::kInt:
      return "int";
    case ir::AttrKind::kFloat:
      return "float";
    case ir::AttrKind::kDouble:
      return "double";
    case ir::AttrKind::kString:
      return "string";
    case ir::AttrKind::kInts:
      return "ints";
    case ir::AttrKind::kFloats:
      return "floats";
    case ir::AttrKind::kStrings:
      return "strings";
    case ir::AttrKind::kDataType:
      return "dtype";
    case ir::AttrKind::kType:
      return "type";
    case ir::AttrKind::kDense:
      return "tensor";
    case ir::AttrKind::kVerbatim:
      break;
  }
  return "verbatim";
}

template <class List>
ordered_json ValuesOf(const List& values) {
  ordered_json json = ordered_json::array();
  for (const ir::OperandDef& value : values)
    json.push_back({{"name", std::string_view(value.name)}, {"arity", ArityName(value.arity)}});
  return json;
}

ordered_json OperatorOf(const ir::OpDef& op) {
  ordered_json attributes = ordered_json::array();
  for (const ir::FieldDef& field : op.fields)
    attributes.push_back({{"name", field.name.str()},
                          {"kind", KindName(field.kind)},
                          {"optional", field.optional},
                          {"has_default", field.make_default != nullptr},
                          {"values", field.enumerators}});
  return {{"name", op.name()},
          {"doc", op.info->doc},
          {"operands", ValuesOf(op.info->operands)},
          {"results", ValuesOf(op.info->results)},
          {"attributes", std::move(attributes)}};
}

ordered_json WordOf(const drr::VocabularyEntry& word) {
  ordered_json arguments = ordered_json::array();
  for (const char letter : word.arguments)
    if (letter != '?') arguments.push_back(drr::ParameterName(letter));
  const size_t least = std::min(word.arguments.find('?'), arguments.size());
  return {{"name", word.name},
          {"arguments", std::move(arguments)},
          {"least", least},
          {"doc", word.doc}};
}

ordered_json VocabularyJson() {
  ir::IrContext context;
  LoadOperators(context);
  ordered_json operators = ordered_json::array();
  for (const ir::OpDef* op : context.Ops()) operators.push_back(OperatorOf(*op));
  ordered_json constraints = ordered_json::array(), computed = ordered_json::array();
  for (const drr::VocabularyEntry& word : drr::Vocabulary())
    (word.is_constraint ? constraints : computed).push_back(WordOf(word));
  ordered_json traits = ordered_json::array();
  for (uint32_t bit = 1; bit != 0; bit <<= 1)
    if (std::string name = ir::TraitNames(bit); !name.empty()) traits.push_back(std::move(name));
  return {{"operators", std::move(operators)},
          {"constraints", std::move(constraints)},
          {"computed", std::move(computed)},
          {"traits", std::move(traits)}};
}

}  // namespace
}  // namespace weft::c

namespace c = weft::c;

extern "C" {

weft_code weft_rules_print(const weft_rule_text* rules, weft_notice_fn notice, void* user_data,
                           weft_bytes** text) {
  return c::Make(text, [&]() -> absl::StatusOr<std::unique_ptr<weft_bytes>> {
    WEFT_ASSIGN_OR_RETURN(const weft::RuleText read, c::RuleTextOf(rules, c::NotEnded()));
    WEFT_ASSIGN_OR_RETURN(std::string printed, weft::Print(read, c::NoticesOf(notice, user_data)));
    return std::make_unique<weft_bytes>(weft_bytes{std::move(printed)});
  });
}

weft_code weft_rules_judge(const weft_rule_text* rules, const weft_judge_options* options,
                           weft_bytes** json) {
  return c::Make(json, [&] { return c::JudgeText(rules, options); });
}

weft_code weft_rules_vocabulary(weft_bytes** json) {
  return c::Make(json, []() -> absl::StatusOr<std::unique_ptr<weft_bytes>> {
    return c::Bytes(c::VocabularyJson());
  });
}

}  // extern "C"
