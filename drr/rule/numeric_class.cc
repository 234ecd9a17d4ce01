#include "drr/rule/numeric_class.h"

namespace weft::drr {

std::optional<NumericClass> FindNumericClass(std::string_view name) {
  if (name == "reassociate") return NumericClass::kReassociates;
  for (size_t i = 0; i < kNumericClassNames.size(); ++i)
    if (kNumericClassNames[i] == name) return static_cast<NumericClass>(i);
  return std::nullopt;
}

std::string NumericClassChoices(std::string_view quote) {
  std::string choices;
  for (size_t i = 0; i < kNumericClassNames.size(); ++i) {
    if (i > 0) choices += i + 1 < kNumericClassNames.size() ? ", " : " or ";
    choices.append(quote).append(kNumericClassNames[i]).append(quote);
  }
  return choices;
}

}  // namespace weft::drr
