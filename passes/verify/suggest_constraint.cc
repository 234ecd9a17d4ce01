#include "passes/verify/suggest_constraint.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>

#include "drr/engine/matcher.h"
#include "drr/rule/match_context.h"
#include "drr/rule/vocabulary.h"
#include "drr/text/rule_text.h"

namespace weft::passes {
namespace {

using drr::Formula;
using Argument = Formula::Argument;

constexpr size_t kMostValues = 10;  // of a rule: words have up to three arguments

// Every formula with this word.
class Formulas {
 public:
  Formulas(const drr::PatternGraph& graph, const drr::VocabularyEntry& word) : graph_(graph) {
    letters_ = word.arguments.substr(0, word.arguments.find('?'));
    formula_.name = word.name;
  }
  void ForEach(const std::function<void(const Formula&)>& use) {
    const size_t at = formula_.arguments.size();
    if (at == letters_.size()) {
      if (drr::CheckFormula(graph_, formula_, /*is_constraint=*/true).empty()) use(formula_);
      return;
    }
    for (const Argument& argument : Choices(letters_[at])) {
      formula_.arguments.push_back(argument);
      ForEach(use);
      formula_.arguments.pop_back();
    }
  }

 private:
  std::vector<Argument> Choices(char letter) const {
    std::vector<Argument> choices;
    ir::IrContext& context = *graph_.context();
    switch (letter) {
      case 'v':
        for (const drr::ValueId id : graph_.values.ids())
          if (graph_.Resolve(id) == id && choices.size() < kMostValues)
            choices.push_back(drr::ValueArgument(id));
        break;
      case 'a':
        for (const drr::AttrId id : graph_.attrs.ids())
          choices.push_back(drr::VariableArgument(id));
        break;
      case 'i':  // a rank, a sign, an axis
        for (const int64_t number : {-1, 0, 1, 2, 3, 4})
          choices.push_back(drr::LiteralArgument(context.IntAttr(number)));
        break;
      case 't':
        choices.push_back(drr::LiteralArgument(context.DataTypeAttr(ir::DataType::kF32)));
        for (const drr::AttrId id : graph_.attrs.ids())
          choices.push_back(drr::VariableArgument(id));
        break;
      default:
        break;  // numbers and names are the author's
    }
    return choices;
  }

  const drr::PatternGraph& graph_;
  std::string_view letters_;
  Formula formula_;
};

// A size is no reason: what is right for one is right by chance.
bool IsAboutOneSize(std::string_view word) {
  return word.rfind("dim_", 0) == 0 || word == "same_dim" || word == "same_axis" ||
         word == "one_element";
}

using Matches = std::vector<std::unique_ptr<drr::MatchContext>>;

Matches MatchesOf(const drr::Rule& rule, const std::vector<const RuleInstance*>& instances) {
  Matches matches;
  for (const RuleInstance* instance : instances) {
    auto match = std::make_unique<drr::MatchContext>(&rule);
    if (drr::Matcher(rule).Match(instance->site, match.get())) matches.push_back(std::move(match));
  }
  return matches;
}

bool HasTwoElements(const RuleInstance* instance) {
  const std::vector<ir::Value> outputs = instance->program->body().Terminator().operands().vec();
  return std::any_of(outputs.begin(), outputs.end(), [](ir::Value output) {
    return !output.type().IsStatic() || output.type().NumElements() >= 2;
  });
}

// The line that the text of the rule would have more.
std::string AsText(drr::Rule rule, drr::Constraint constraint) {
  rule.graph.constraints.push_back(std::move(constraint));
  const std::string text = drr::text::PrintRule(rule);
  const std::string line_begin = "\n  require ";
  const size_t begin = text.rfind(line_begin);
  if (begin == std::string::npos) return "";
  const size_t word = begin + line_begin.find('r');
  return text.substr(word, text.find('\n', word) - word);
}

}  // namespace

std::string SuggestConstraint(const drr::Rule& rule, const std::vector<const RuleInstance*>& right,
                              const std::vector<const RuleInstance*>& wrong) {
  std::vector<const RuleInstance*> telling;
  std::copy_if(right.begin(), right.end(), std::back_inserter(telling), HasTwoElements);
  const Matches where_right = MatchesOf(rule, telling), where_wrong = MatchesOf(rule, wrong);
  if (where_wrong.empty()) return "";
  drr::Constraint best;
  std::ptrdiff_t most = 0;
  for (const drr::VocabularyEntry& word : drr::Vocabulary()) {
    if (!word.is_constraint || word.arguments.empty() || IsAboutOneSize(word.name)) continue;
    Formulas(rule.graph, word).ForEach([&](const Formula& formula) {
      drr::Constraint constraint =
          drr::MakeConstraint(formula, drr::ReasonOf(rule.graph, formula), rule.graph.loc);
      const auto holds = [&](const auto& match) { return constraint.holds(*match); };
      if (std::any_of(where_wrong.begin(), where_wrong.end(), holds)) return;
      const auto count = std::count_if(where_right.begin(), where_right.end(), holds);
      if (count <= most) return;
      most = count;
      best = std::move(constraint);
    });
  }
  return most == 0 ? "" : AsText(rule, std::move(best));
}

}  // namespace weft::passes
