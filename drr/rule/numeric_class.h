// How a rewrite may change numbers, and the one table of the names for it: of rules, of files of
// rules, of flags.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::drr {

// A run has a contract, and rules outside it are not eligible.
enum class NumericClass : uint8_t {
  kExact,           // bit for bit the same, whatever the inputs
  kReassociates,    // the same in real arithmetic, rounded elsewhere (float sums in another order,
                    // folding)
  kApproximate,     // another function that is close
  kChangesMeaning,  // another function, which the user wants instead
};
// By class.
inline constexpr std::array<std::string_view, 4> kNumericClassNames = {
    "exact", "reassociates", "approximate", "changes-meaning"};

constexpr std::string_view NumericClassName(NumericClass numerics) {
  return kNumericClassNames[static_cast<size_t>(numerics)];
}
// "reassociate" is another name of "reassociates".
std::optional<NumericClass> FindNumericClass(std::string_view name);
// "exact, reassociates, approximate or changes-meaning", each between `quote`s.
std::string NumericClassChoices(std::string_view quote = "");

}  // namespace weft::drr
