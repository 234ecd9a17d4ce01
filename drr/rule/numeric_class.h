// How a rewrite may change numbers; a run has a contract, and rules outside it are not eligible.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::drr {

enum class NumericClass : uint8_t {
  kExact,           // bit for bit the same, whatever the inputs
  kReassociates,    // the same in real arithmetic, rounded elsewhere (float sums in another order,
                    // folding)
  kApproximate,     // another function that is close
  kChangesMeaning,  // another function, which the user wants instead
};
inline constexpr NumericClass kNumericClasses[] = {
    NumericClass::kExact, NumericClass::kReassociates, NumericClass::kApproximate,
    NumericClass::kChangesMeaning};
std::string_view NumericClassName(NumericClass numerics);
std::optional<NumericClass> FindNumericClass(std::string_view name);

}  // namespace weft::drr
