// Rules read from text at run time. A file holds either mapping dicts (drr/neural_engine/mapping.h), as a
// Python literal or as JSON: one, a list of them, or {'name': dict or list of dicts, ...}; or rules
// in the form of drr/text/rule_text.h.
//
//   RuleFile file = ReadRules(text, "rules.py", &context, &program);
//   if (!file.errors.empty()) ...           // rules.py:3:14: error: no op is called 'Sotfmax'
//
// The text need not be trusted. All dialects that it names must be loaded into the context, which
// must outlive the rules.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "drr/rule/rule.h"

namespace weft::drr::text {

struct RuleFile {
  std::vector<std::unique_ptr<Rule>> rules;  // none when there are errors
  std::vector<std::string> errors, warnings;
};

// `program` is where names of nodes (search_mode 'node_name', tensors of outside nodes) are looked
// up: such rules are for that program, as it is. Without one they are errors. `functions` are those
// that constraints may name; without any, native code is an error.
RuleFile ReadRules(std::string_view text, const std::string& file, ir::IrContext* context,
                   ir::Program* program = nullptr, const NativeFunctions* functions = nullptr);

}  // namespace weft::drr::text
