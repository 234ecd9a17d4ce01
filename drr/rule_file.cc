#include "drr/rule_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "drr/neural_engine/mapping.h"
#include "drr/text/rule_text.h"

namespace weft::drr::text {
namespace {

// "some/rules.py" -> "rules".
std::string_view StemOf(std::string_view file) {
  const size_t slash = file.find_last_of('/');
  if (slash != std::string_view::npos) file.remove_prefix(slash + 1);
  return file.substr(0, file.find_last_of('.'));
}

// Whether the first word is `rule`, and not the name in `rule = {`.
bool IsRuleText(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    if (text[i] == '#' || text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
    } else if (std::string_view(" \t\r\n").find(text[i]) != std::string_view::npos) {
      ++i;
    } else {
      break;
    }
  }
  if (text.substr(i, 4) != "rule" || i + 4 >= text.size()) return false;
  const size_t next = text.find_first_not_of(" \t\r\n", i + 4);
  return next != i + 4 && next != std::string_view::npos && text[next] != '=';
}

class MappingFile {
 public:
  MappingFile(ir::IrContext* context, ir::Program* program, Diagnostics* mistakes,
              std::vector<std::unique_ptr<Rule>>* rules)
      : context_(context), program_(program), mistakes_(*mistakes), rules_(*rules) {}

  void Read(const Literal& top) {
    const std::string stem = KebabCase(StemOf(mistakes_.file()));
    if (!top.Is(Literal::kDict) || top.Find("patterns") || top.items.empty()) {
      ReadOneOrMore(top, stem);
      return;
    }
    for (size_t i = 0; i < top.items.size(); i += 2) {
      const Literal& name = top.items[i];
      if (name.Is(Literal::kString)) {
        ReadOneOrMore(top.items[i + 1], KebabCase(name.text));
      } else {
        mistakes_.Error(name.at, fmt::format("expected 'patterns', or the name of a rule, but "
                                             "found {}",
                                             name.Describe()));
      }
    }
  }

 private:
  void ReadOneOrMore(const Literal& at, const std::string& name) {
    if (!at.IsSequence()) {
      ReadOne(at, name);
      return;
    }
    if (at.items.empty()) mistakes_.Error(at.at, "there is no mapping in the list");
    for (size_t i = 0; i < at.items.size(); ++i)
      ReadOne(at.items[i], i == 0 ? name : fmt::format("{}-{}", name, i + 1));
  }

  void ReadOne(const Literal& at, const std::string& name) {
    const size_t before = mistakes_.num_errors();
    Mapping mapping;
    ReadMapping(at, name, &mistakes_, &mapping);
    CheckOps(mapping, *context_, &mistakes_);
    if (!names_.insert(mapping.name).second)
      mistakes_.Error(at.at, fmt::format("two rules are called '{}'", mapping.name));
    if (mistakes_.num_errors() == before)
      LowerMapping(mapping, context_, program_, &mistakes_, &rules_);
  }

  ir::IrContext* context_;
  ir::Program* program_;
  Diagnostics& mistakes_;
  std::vector<std::unique_ptr<Rule>>& rules_;
  std::set<std::string> names_;
};

}  // namespace

RuleFile ReadRules(std::string_view text, const std::string& file, ir::IrContext* context,
                   ir::Program* program, const NativeFunctions* functions) {
  Diagnostics mistakes(file);
  RuleFile result;
  if (IsRuleText(text)) {
    ParseRules(text, context, program, &mistakes, &result.rules, functions);
  } else if (const std::optional<Literal> literal = ParseLiteral(text, &mistakes)) {
    MappingFile(context, program, &mistakes, &result.rules).Read(*literal);
  }
  if (!mistakes.ok()) result.rules.clear();
  result.errors = mistakes.errors();
  if (const size_t more = mistakes.num_errors() - mistakes.errors().size(); more > 0)
    result.errors.push_back(fmt::format("{}: error: {} more mistakes", file, more));
  result.warnings = mistakes.warnings();
  return result;
}

}  // namespace weft::drr::text
