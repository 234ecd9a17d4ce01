#include "drr/rule/numeric_class.h"

namespace weft::drr {

std::string_view NumericClassName(NumericClass numerics) {
  switch (numerics) {
    case NumericClass::kExact:
      return "exact";
    case NumericClass::kReassociates:
      return "reassociates";
    case NumericClass::kApproximate:
      return "approximate";
    case NumericClass::kChangesMeaning:
      return "changes-meaning";
  }
  return "";
}

std::optional<NumericClass> FindNumericClass(std::string_view name) {
  for (const NumericClass numerics : kNumericClasses)
    if (NumericClassName(numerics) == name) return numerics;
  return std::nullopt;
}

}  // namespace weft::drr
