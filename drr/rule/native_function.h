// Functions that are given with a rule's text, for constraints that no word of the vocabulary says:
//
//   require "the last size of w is a multiple of 4" native by_four(%w)
//
// A rule holds its functions, and hands them on where its text is read again.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/base/function.h"
#include "ir/program.h"

namespace weft::drr {

// What a match has for an argument.
struct NativeArgument {
  enum Kind {
    kAbsent,     // an operand or an attribute that is not given
    kValue,      // `value`
    kList,       // `list`
    kAttribute,  // `attribute`: of a variable, or a literal of the text
  };
  Kind kind = kAbsent;
  ir::Value value{};
  std::vector<ir::Value> list{};
  ir::Attribute attribute{};
};

// Whether the constraint holds. Rules that are judged are matched in several threads at once, each
// with values of a context of its own.
using NativeHolds = ir::Function<bool(std::span<const NativeArgument>)>;

struct NativeFunction {
  std::string name{};
  NativeHolds holds{};
};
using NativeFunctions = std::vector<NativeFunction>;

}  // namespace weft::drr
