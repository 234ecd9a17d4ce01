// Texts of rules with functions in C, as those of C++.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "weft/c/guard.h"

namespace weft::c {

// Whether a function has said that the call shall end. From then on no function is called.
using Ended = std::shared_ptr<std::atomic<bool>>;
inline Ended NotEnded() { return std::make_shared<std::atomic<bool>>(false); }

absl::StatusOr<std::vector<RuleText>> RuleTextsOf(const weft_rule_text* rules, size_t count,
                                                  const Ended& ended);
// StopOf(), and true when the call shall end.
std::function<bool()> StopOrEnded(int (*stop)(void*), void* user_data, const Ended& ended);

}  // namespace weft::c
