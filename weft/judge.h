// What rules in text are, before a model is touched.
//
//   WEFT_ASSIGN_OR_RETURN(auto judged, weft::Judge({.text = text}));
//   if (judged[0].verdict == "refuted") std::puts(judged[0].counterexample.c_str());
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ir/base/status.h"
#include "weft/base/notices.h"
#include "weft/base/rule_text.h"

namespace weft::ir {
class IrContext;
}

namespace weft {

// All operators that rules may name.
void LoadOperators(ir::IrContext& context);

// The rules as they were understood, in text. InvalidArgument names one mistake, error notices all
// others.
absl::StatusOr<std::string> Print(const RuleText& rules, const Notices& notices = {});

struct JudgeOptions {
  double seconds_a_rule = 2;  // of CPU time
  uint64_t seed = 1;
  Notices notices = {};
  std::function<bool()> stop = nullptr;  // asked now and then; true ends in Cancelled
};

// By what a rule does to programs that are made from it: README.md of passes/verify.
struct Judgement {
  std::string rule;
  std::string numerics;
  std::string verdict;         // tested, refuted, unjudged
  std::string badge;           // "tested 24", "native: tested 8"
  std::string why;             // one line: why it is refuted or unjudged
  std::string counterexample;  // of a refuted one, in lines: program, inputs, both results
  int programs = 0;            // that were compared
  int comparisons = 0;         // of results on one set of inputs
};
absl::StatusOr<std::vector<Judgement>> Judge(const RuleText& rules,
                                             const JudgeOptions& options = {});

}  // namespace weft
