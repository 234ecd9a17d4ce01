// Inputs that two programs are compared on.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "drr/rule/rule.h"
#include "ir/program.h"

namespace weft::passes {

enum class InputKind : uint8_t {
  kLattice,   // integers from -3 to 3: sums of products are exact in f32, in any order
  kPositive,  // quarters from 1/4 to 4, for roots and logarithms; integers from 1 to 3
  kReal,     // uniform in [-2, 2), with all digits, so that sums are rounded; integers from 0 to 2,
             // as indices are
  kSpecial,  // floats: NaN, infinities, zeros of both signs, subnormal and huge ones among others;
             // integers: the ends of their range, what floats round and all bits among others
  kNearby,  // for each number that is given: it, one more, one less, its negative, twice and ten times it
};
std::string_view InputKindName(InputKind kind);  // "small integers", "special values"
// Those on which a rule of this class is compared. Integers are the same or not, whatever the class.
std::vector<InputKind> InputKindsFor(drr::NumericClass numerics, std::span<const ir::Type> types,
                                     std::span<const double> numbers);

// One dense tensor of each type, whose sizes must be numbers; the same for the same seed. Those of f64
// hold numbers that f32 holds too. `numbers`: of kNearby.
std::vector<ir::Attribute> MakeInputs(std::span<const ir::Type> types, InputKind kind,
                                      uint64_t seed, std::span<const double> numbers = {});

// Of constants and attributes of the program, those at which what it computes of inputs of the types may change and
// which inputs of the other kinds do not reach: from 3 to 64, or as far below zero.
std::vector<double> NumbersToApproach(ir::Program& program, std::span<const ir::Type> types);

}  // namespace weft::passes
