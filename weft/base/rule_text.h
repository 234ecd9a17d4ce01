// Rules in text that is in memory, with functions for what the vocabulary cannot say.
//
//   weft::RuleText rules = {.text = text, .origin = "my rules"};
//   rules.functions.push_back({"by_four", [](std::span<const weft::drr::NativeArgument> given) {
//     const weft::ir::Type type = given[0].value.type();  // require "..." native by_four(%w)
//     return type.HasRank() && type.rank() > 0 && type.dim(-1) >= 0 && type.dim(-1) % 4 == 0;
//   }});
//   WEFT_ASSIGN_OR_RETURN(auto judged, weft::Judge(rules));
//   WEFT_ASSIGN_OR_RETURN(auto report, model.Optimize({.rules = {rules}}));
#pragma once

#include <string>

#include "drr/rule/native_function.h"

namespace weft {

struct RuleText {
  std::string text;                  // drr/text/rule_text.h has the grammar
  std::string origin = "<rules>";    // in messages, as the name of a file is
  drr::NativeFunctions functions{};  // that constraints may name; called by several threads at once
};

}  // namespace weft
