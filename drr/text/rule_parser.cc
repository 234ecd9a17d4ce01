#include "drr/text/rule_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "drr/rule/rule.h"
#include "drr/rule/vocabulary.h"
#include "drr/text/literal.h"
#include "drr/text/rule_text.h"
#include "ir/base/status.h"
#include "ir/base/suggest.h"
#include "ir/text/internal/literals.h"

namespace weft::drr::text {

namespace {

// Whether text[at] is the word `rule` that begins a rule: at the start of a line, or before a name
// and a brace.
bool BeginsRule(std::string_view text, size_t at) {
  constexpr std::string_view kWord = "rule", kSpace = " \t\r\n";
  if (text.substr(at, kWord.size()) != kWord) return false;
  if (at > 0 && (ir::text::IsNameChar(text[at - 1]) || std::strchr("%$!-", text[at - 1])))
    return false;
  const size_t after = at + kWord.size();
  if (after >= text.size() || kSpace.find(text[after]) == std::string_view::npos) return false;
  const size_t before = text.find_last_not_of(" \t\r", at == 0 ? 0 : at - 1);
  if (at == 0 || before == std::string_view::npos || text[before] == '\n') return true;
  const size_t name = text.find_first_not_of(kSpace, after);
  if (name == std::string_view::npos) return false;
  const size_t end =
      text[name] == '"' ? text.find('"', name + 1) : text.find_first_of(" \t\r\n{}()", name);
  if (end == std::string_view::npos || end == name) return false;
  const size_t brace = text.find_first_not_of(" \t\r\n\"", end);
  return brace != std::string_view::npos && text[brace] == '{';
}

}  // namespace

void RuleParser::Run() {
  while (!s_.AtEnd()) {
    const char* const start = s_.position();
    Here();
    const auto at_start = std::pair(line_at_, line_);
    if (ParseRule()) continue;
    mistakes_.Add(std::string(ir::Message(s_.status())));
    s_.ForgetFailure();
    std::tie(line_at_, line_) = at_start;
    if (!SkipToRuleAfter(start)) return;
  }
  if (s_.failed()) mistakes_.Add(std::string(ir::Message(s_.status())));
}

bool RuleParser::SkipToRuleAfter(const char* at) {
  const std::string_view text(at, static_cast<size_t>(s_.end() - at));
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {  // a string ends in its line at the latest
      while (i + 1 < text.size() && text[i + 1] != '"' && text[i + 1] != '\n')
        i += text[i + 1] == '\\' ? 2 : 1;
      i += i + 1 < text.size() && text[i + 1] == '"';
    } else if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
    } else if (BeginsRule(text, i)) {
      s_.set_position(at + i);
      return true;
    }
  }
  return false;
}

SourceLoc RuleParser::Here() {
  for (const char* here = s_.position(); line_at_ < here; ++line_at_) line_ += *line_at_ == '\n';
  return {file_, line_};
}

bool RuleParser::ParseRule() {
  const SourceLoc loc = Here();
  if (!s_.ConsumeWord("rule")) return Fail("expected 'rule' but found " + s_.Found());
  std::string name;
  if (s_.Peek() == '"') {
    if (!Quoted(&name)) return false;
  } else {
    name = s_.BareValue();
  }
  if (name.empty()) return Fail("expected the name of the rule but found " + s_.Found());
  for (const auto& rule : rules_)
    if (rule->name == name) return Fail(fmt::format("two rules are called '{}'", name));
  graph_ = std::make_unique<PatternGraph>(name, context_);
  graph_->loc = loc;
  graph_->spelling = Spelling::kText;
  values_.clear(), variables_.clear(), results_.clear();
  algebra_.clear();
  numerics_ = NumericClass::kReassociates;
  benefit_ = 0;
  if (!s_.Expect('{', "after the name of the rule")) return false;
  while (!s_.Consume('}'))
    if (!ParsePart()) return false;
  return Finish();
}

bool RuleParser::ParsePart() {
  const char* at = s_.position();
  const std::string word(s_.Name());
  if (word == "algebra") return Quoted(&algebra_);
  if (word == "numerics") return ParseNumerics();
  if (word == "benefit") return Integer(0, 1'000'000, &benefit_);
  if (word == "lenient") return graph_->lenient = true;
  if (word == "source") return ParseBlock(&RuleParser::ParseSource);
  if (word == "result") return ParseBlock(&RuleParser::ParseResult);
  if (word == "require" || word == "profitable") return ParseRequire(word == "profitable");
  if (word == "replace") return ParseReplace();
  if (word == "after")
    return Fail(at,
                "what runs after the replacement is native code: it can only be written in "
                "C++");
  return Fail(at, fmt::format("expected algebra, numerics, benefit, source, require, profitable, "
                              "result or replace but found {}",
                              word.empty() ? s_.Found() : "'" + word + "'"));
}

bool RuleParser::ParseBlock(bool (RuleParser::*statement)()) {
  if (!s_.Expect('{', "at the beginning of the block")) return false;
  while (!s_.Consume('}'))
    if (!(this->*statement)()) return false;
  return true;
}

bool RuleParser::ParseNumerics() {
  const char* at = s_.position();
  const std::optional<NumericClass> numerics = FindNumericClass(s_.BareValue());
  if (!numerics) return Fail(at, "numerics are " + NumericClassChoices());
  numerics_ = *numerics;
  return true;
}

bool RuleParser::ParseRequire(bool profitable) {
  const SourceLoc loc = Here();
  std::string reason;
  if (!Quoted(&reason)) return false;
  const char* at = s_.position();
  const std::string name(s_.Name());
  if (name == "native") {
    if (!ParseNative(at, std::move(reason), loc)) return false;
  } else {
    Formula formula;
    if (!ParseFormula(name, true, at, &formula)) return false;
    graph_->constraints.push_back(MakeConstraint(std::move(formula), std::move(reason), loc));
  }
  graph_->constraints.back().profitable = profitable;
  return true;
}

bool RuleParser::ParseNative(const char* at, std::string reason, SourceLoc loc) {
  const char* const name_at = s_.position();
  const std::string name(s_.Name());
  if (!functions_ || functions_->empty() || name.empty())
    return Fail(at, fmt::format("the constraint \"{}\" is native code: it can only be written in "
                                "C++",
                                reason));
  const auto function = std::find_if(functions_->begin(), functions_->end(),
                                     [&](const NativeFunction& f) { return f.name == name; });
  if (function == functions_->end()) {
    std::vector<std::string_view> names;
    for (const NativeFunction& known : *functions_) names.push_back(known.name);
    return Fail(name_at, fmt::format("no function '{}' is given with the rules{}", name,
                                     ir::DidYouMean(name, names)));
  }
  std::vector<Formula::Argument> arguments;
  const bool ok = s_.Expect('(', "after the name of the function") && List(')', [&] {
                    const char* const argument_at = s_.position();
                    if (!ParseArgument(&arguments.emplace_back())) return false;
                    return !arguments.back().if_given ||
                           Fail(argument_at, "a function is told what is absent: without '?'");
                  });
  if (!ok) return false;
  graph_->constraints.push_back(
      MakeNativeConstraint(*function, std::move(arguments), std::move(reason), loc));
  return true;
}

bool RuleParser::ParseReplace() {
  Replacement r;
  r.loc = Here();
  if (!Value(&r.source)) return false;
  if (!s_.ConsumeWord("with")) return Fail("expected 'with' but found " + s_.Found());
  if (!Operand(&r.with)) return false;
  graph_->replacements.push_back(r);
  return true;
}

std::vector<ValueId> RuleParser::Below(ValueId id) {
  const SourceValue& v = At(id);
  std::vector<ValueId> below = v.either;
  below.insert(below.end(), v.nots.begin(), v.nots.end());
  if (v.through) below.push_back(v.through);
  if (!v.producer) return below;
  const SourceOp& op = graph_->ops[v.producer];
  below.insert(below.end(), op.operands.begin(), op.operands.end());
  for (const RegionPattern& r : op.regions)
    below.insert(below.end(), r.returned.begin(), r.returned.end());
  std::erase(below, kAbsent);
  return below;
}

ValueId RuleParser::FindCycle() {
  enum State : uint8_t { kNew, kOpen, kDone };
  IdVector<SourceValue, State> state(graph_->values.size(), kNew);
  std::vector<std::pair<ValueId, std::vector<ValueId>>> path;
  for (ValueId start : state.ids()) {
    if (state[start] != kNew) continue;
    path.emplace_back(start, Below(start));
    state[start] = kOpen;
    while (!path.empty()) {
      if (path.back().second.empty()) {
        state[path.back().first] = kDone;
        path.pop_back();
        continue;
      }
      const ValueId next = path.back().second.back();
      path.back().second.pop_back();
      if (state[next] == kOpen) return next;
      if (state[next] == kDone) continue;
      state[next] = kOpen;
      path.emplace_back(next, Below(next));
    }
  }
  return {};
}

bool RuleParser::Finish() {
  if (const ValueId value = FindCycle())
    return Fail(
        fmt::format("rule {}: {} is made from itself", graph_->rule(), graph_->Describe(value)));
  if (graph_->replacements.empty())
    return Fail(fmt::format("rule {} replaces nothing", graph_->rule()));
  BuildResult built = drr::internal::FinishRule(std::move(graph_), algebra_, numerics_, benefit_);
  for (std::string& error : built.errors) mistakes_.Add(std::move(error));
  if (built.rule) rules_.push_back(std::move(built.rule));
  return true;
}

void ParseRules(std::string_view text, ir::IrContext* context, ir::Program* program,
                Diagnostics* mistakes, std::vector<std::unique_ptr<Rule>>* rules,
                const NativeFunctions* functions) {
  if (text.size() > kMaxRuleFileBytes) {
    mistakes->Error({}, fmt::format("the text has {} bytes but must have at most {}", text.size(),
                                    kMaxRuleFileBytes));
    return;
  }
  RuleParser(text, context, program, functions, mistakes, rules).Run();
}

}  // namespace weft::drr::text
